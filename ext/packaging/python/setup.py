# SPDX-License-Identifier: MIT
"""
The library is compiled from src/, with a C compiler alone, or taken as it is: HIGHWATER_LIBRARY names a file
that was built for HIGHWATER_PLATFORM, which is the wheel's tag.
"""

import os
import pathlib
import shutil

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

LIBRARY = os.environ.get("HIGHWATER_LIBRARY")
SRC = pathlib.Path("src")


class build_library(build_ext):
    def get_ext_filename(self, name):
        # Not a module of Python: no version of Python in its name, and no init function.
        suffix = pathlib.Path(LIBRARY).suffix if LIBRARY else ".so"
        return "highwater" + suffix

    def get_export_symbols(self, extension):
        return []

    def build_extension(self, extension):
        if LIBRARY is None:
            super().build_extension(extension)
        else:
            target = self.get_ext_fullpath(extension.name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(LIBRARY, target)


class platform_wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ.get("HIGHWATER_PLATFORM") or super().get_tag()[2]


sources = sorted(str(path) for path in SRC.rglob("*.c"))
folders = sorted({str(path.parent) for path in SRC.rglob("*.h")})
setup(
    ext_modules=[
        Extension(
            "sqlite_highwater.highwater",
            sources,
            include_dirs=folders,
            extra_compile_args=["-std=c11", "-O2", "-w", *(SRC / "options").read_text().split()],
        )
    ],
    cmdclass={"build_ext": build_library, "bdist_wheel": platform_wheel},
)
