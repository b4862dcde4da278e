# SPDX-License-Identifier: MIT
# highwater: replicated, Kafka-format topics as SQLite tables.
#
#   make          build/highwater.so, and ./highwater.so for `.load ./highwater`
#   make deps     install what building and testing need, if anything is missing
#   make demo     install what is missing, build, play the README's session and the main experiment
#   make test     install what is missing, build, run every test: ends with "N passed, N failed"
#   make check    what CI runs on top of the tests: CHECKS below
#   make install  PREFIX=/usr/local, LIBDIR and DESTDIR honoured; make uninstall
#
# One part of it: make golden|experiments|readme|core-tests|sql-tests, golden-rewrite, sql-rewrite,
# readme-rewrite, trunk, asan, valgrind, tsan, fuzz, soak (1 GiB), soak-kills, mutants, bench, explore,
# explore-large, page, interop, live, live-newest and live-bench (a real Kafka cluster), install-live,
# bare, ports, sqlite-versions, amalgamation, packages, windows (under wine), bindings, gallery, tidy, format.
# tests/README.md says more.
#
# Settings are variables: make CC=clang WERROR=1 V=1

CC      ?= cc
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
BUILD   ?= build
OPT     ?= -O2 -g
JOBS    ?= $(shell nproc)
# Seconds that each fuzz target runs, and that one test may take.
FUZZ_SECONDS ?= 15
TEST_TIMEOUT ?= 300

# The flags of package $(1), or $(2) where pkg-config does not know it.
pkg = $(or $(shell pkg-config $(1) 2>/dev/null),$(2))
ifeq ($(origin SQLITE_CFLAGS),undefined)
SQLITE_CFLAGS := $(call pkg,--cflags sqlite3)
endif
ifeq ($(origin SQLITE_LIBS),undefined)
SQLITE_LIBS := $(call pkg,--libs sqlite3,-lsqlite3)
endif
ifeq ($(origin CMOCKA_LIBS),undefined)
CMOCKA_LIBS := $(call pkg,--libs cmocka,-lcmocka)
endif
ifeq ($(origin CODEC_LIBS),undefined)
CODEC_LIBS := $(call pkg,--libs zlib snappy liblz4 libzstd,-lz -lsnappy -llz4 -lzstd)
endif

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef \
       -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
       -Wcast-qual -Wwrite-strings -Wswitch-enum -Wvla -Wformat=2
ifdef WERROR
WARN += -Werror
endif
Q = $(if $(V),,@)

# What the code needs to be correct; CFLAGS and OPT stay the user's.
HW_CFLAGS = -std=c11 -fPIC -fvisibility=hidden $(WARN) -I. -MMD -MP
# The extension gets SQLite from its host, so nothing else may be left undefined.
SO_LDFLAGS = -shared -Wl,-z,defs

CORE = $(sort $(wildcard core/*.c core/*/*.c))
EXT  = $(sort $(filter-out ext/live/%,$(wildcard ext/*.c ext/*/*.c)))
SQL_SUPPORT = $(sort $(wildcard tests/support_sql*.c))
SUPPORT     = $(filter-out $(SQL_SUPPORT) tests/support_live.c,$(sort $(wildcard tests/support_*.c)))
SQL_TESTS  = $(patsubst tests/%.c,$(BUILD)/%,$(sort $(wildcard tests/test_sql_*.c)))
LIVE_TESTS = $(patsubst tests/%.c,$(BUILD)/%,$(sort $(wildcard tests/test_live_*.c)))
CORE_TESTS = $(filter-out $(SQL_TESTS) $(LIVE_TESTS),$(patsubst tests/%.c,$(BUILD)/%,$(sort $(wildcard tests/test_*.c))))
FUZZERS = $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
BENCHES = $(patsubst tests/bench/%.c,$(BUILD)/%,$(sort $(wildcard tests/bench/bench_*.c)))
BENCH_SUPPORT_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/bench/support_*.c)))

# The second library, where librdkafka is there. Of ext/ it has what knows no cluster in the process.
HAS_LIVE := $(shell pkg-config --exists 'rdkafka >= 2.0.2' 2>/dev/null && echo yes)
LIVE = $(sort $(wildcard ext/live/*.c))
LIVE_SHARED = $(addprefix ext/,config_list.c ext_api.c ext_argument.c ext_error.c ext_json.c ext_memory.c ext_owner.c ext_probe.c ext_range.c \
              ext_rows.c ext_schema.c ext_value.c ext_vtab.c topics/record_plan.c topics/topic_row.c)
LIVE_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(LIVE) $(LIVE_SHARED))

# C files that the build makes.
GENERATED = $(BUILD)/generated/page_template.c $(BUILD)/generated/message_table.c
CORE_OBJ = $(CORE:%.c=$(BUILD)/%.o) $(GENERATED:%.c=%.o)
EXT_OBJ  = $(EXT:%.c=$(BUILD)/%.o)
# What every INSERT runs through is one file in highwater.so, so that the compiler inlines calls between them: 3,493
# instructions of a row become 3,300 (bench_instructions). Clang has no such option, and inlines less.
INSERT_PATH = $(addprefix ext/,ext_transaction.c ext_value.c topics/topic_row.c topics/topic_write.c) \
              $(addprefix core/,cluster/find.c log/log_validate.c record/batch_builder.c replication/leader_append.c \
              replication/partition.c replication/variant_kafka.c stage/stage.c stage/stage_chunks.c verbs/produce.c)
INLINE := $(shell $(CC) -Werror -finline-limit=300 -fsyntax-only -x c /dev/null 2>/dev/null && echo -finline-limit=300)
LIBRARY_OBJ = $(filter-out $(INSERT_PATH:%.c=$(BUILD)/%.o),$(CORE_OBJ) $(EXT_OBJ)) $(BUILD)/generated/insert_path.o
SUPPORT_OBJ = $(SUPPORT:%.c=$(BUILD)/%.o)
SQL_SUPPORT_OBJ = $(SQL_SUPPORT:%.c=$(BUILD)/%.o)
C_FILES = $(sort $(wildcard core/*.[ch] core/*/*.[ch] ext/*.[ch] ext/*/*.[ch] ext/packaging/*/*.[ch] tests/*.[ch] tests/*/*.[ch]))
LINK = $(CC) $(OPT) $(CFLAGS) $(LDFLAGS)

.PHONY: all live-library live live-newest live-bench programs core-programs bare ports sqlite-versions amalgamation packages windows deps deps-dev demo test core-tests sql-tests live-tests golden experiments readme \
        golden-rewrite sql-rewrite readme-rewrite check warnings asan asan-run valgrind \
        valgrind-run tsan tsan-run fuzz fuzz-run soak soak-kills mutants bench interop gallery page bindings layers trunk symbols documented traceability tidy \
        format format-check install install-live uninstall clean force
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/highwater.so $(if $(filter build,$(BUILD)),highwater.so) live-library

core-programs: $(CORE_TESTS)

# What `make test` needs built; tests/layers.sh looks at every object.
programs: all $(EXT_OBJ) $(CORE_TESTS) $(SQL_TESTS) $(BUILD)/golden_sql $(if $(HAS_LIVE),$(LIVE_TESTS))

$(BUILD)/highwater.so: $(LIBRARY_OBJ)
	@echo "  LINK  $@"
	$(Q)$(LINK) $(SO_LDFLAGS) -o $@ $^ $(CODEC_LIBS)

highwater.so: $(BUILD)/highwater.so
	$(Q)ln -sf $< $@

ifeq ($(HAS_LIVE),yes)
live-library: $(BUILD)/highwater_live.so $(if $(filter build,$(BUILD)),highwater_live.so)
else
live-library:
	@echo "  highwater_live.so is left out: it needs librdkafka 2.0.2 or later (Debian: librdkafka-dev)"
endif

$(LIVE:%.c=$(BUILD)/%.o): private HW_CFLAGS += -D_POSIX_C_SOURCE=200809L $(call pkg,--cflags rdkafka)
$(BUILD)/highwater_live.so: $(LIVE_OBJ) $(BUILD)/core.a
	@echo "  LINK  $@"
	$(Q)$(LINK) $(SO_LDFLAGS) -o $@ $^ $(call pkg,--libs rdkafka) $(CODEC_LIBS)

highwater_live.so: $(BUILD)/highwater_live.so
	$(Q)ln -sf $< $@

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/libraries
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(HW_CFLAGS) $(SQLITE_CFLAGS) $(OPT) $(CFLAGS) -c $< -o $@

$(BUILD)/generated/page_template.c: core/look/page_template.sh $(wildcard core/look/page.*)
	@mkdir -p $(@D)
	$(Q)core/look/page_template.sh $@

$(BUILD)/generated/message_table.c: $(addprefix core/decode/,message_table.sh message_fields.txt)
	$(Q)core/decode/message_table.sh $@

$(BUILD)/generated/insert_path.c: Makefile
	@mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $(INSERT_PATH) >$@
$(BUILD)/generated/insert_path.o: private HW_CFLAGS += $(SQLITE_CFLAGS) $(INLINE)

$(BUILD)/generated/%.o: $(BUILD)/generated/%.c $(BUILD)/flags | $(BUILD)/libraries
	@echo "  CC    $<"
	$(Q)$(CC) $(HW_CFLAGS) $(OPT) $(CFLAGS) -c $< -o $@

# SQL tests, and benchmarks, load the extension that was built along with them.
$(BUILD)/tests/%.o: private HW_CFLAGS += -DHW_TEST_EXTENSION='"$(BUILD)/highwater.so"'

# highwater_build() names the commit; only its file is compiled again for another one.
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
$(BUILD)/ext/functions/functions_build.o: private HW_CFLAGS += -DHW_BUILD_COMMIT='"$(COMMIT)"'
$(BUILD)/ext/functions/functions_build.o: $(BUILD)/commit
$(BUILD)/commit: force
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@

# So does it the version of libsnappy, which C cannot ask for.
SNAPPY_VERSION := $(shell pkg-config --modversion snappy 2>/dev/null)
$(BUILD)/core/record/codec_snappy.o: private HW_CFLAGS += $(SNAPPY_VERSION:%=-DHW_SNAPPY_VERSION='"%"')

# Another compiler or other flags: everything is built again.
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(CC) $(HW_CFLAGS) $(OPT) $(CFLAGS)' | cmp -s - $@ || \
	  echo '$(CC) $(HW_CFLAGS) $(OPT) $(CFLAGS)' >$@

# Say which library is missing before the compiler does so in its own words.
$(BUILD)/libraries:
	@mkdir -p $(@D)
	$(Q)CC='$(CC)' tests/deps.sh --check build
	@touch $@

# Core tests link without SQLite, and what they name only: the linker proves that core/ does not
# need it, and that a layer does not need those above it.
$(BUILD)/test_%: $(BUILD)/tests/test_%.o $(BUILD)/support.a $(BUILD)/core.a
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(CMOCKA_LIBS) $(CODEC_LIBS)

# Defects are planted round the core's own functions.
$(BUILD)/test_explore_defects: private LINK += $(foreach function,log_aborted log_last_stable producer_state_check \
                     $(addprefix replica_,answer_fetch apply_fetch check_epoch is_isr_eligible maximal_isr \
                     maybe_increment_high_watermark propose_isr take_proposal),-Xlinker --wrap=hw_$(function))
$(BUILD)/test_explore_copies: private LINK += -Xlinker --wrap=hw_arena_restore

# SQL tests load the extension; what they link of the core is for checking files by themselves.
$(BUILD)/test_sql_%: $(BUILD)/tests/test_sql_%.o $(BUILD)/support_sql.a $(BUILD)/support.a \
                     $(BUILD)/core.a | $(BUILD)/highwater.so
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(CMOCKA_LIBS) $(SQLITE_LIBS) $(CODEC_LIBS)

# Those of the second library have a cluster of their own: librdkafka's mock.
$(BUILD)/tests/test_live_%.o $(BUILD)/tests/support_live.o: private HW_CFLAGS += -D_GNU_SOURCE \
                     -DHW_TEST_LIVE='"$(BUILD)/highwater_live.so"' \
                     $(call pkg,--cflags rdkafka)
$(BUILD)/test_live_%: $(BUILD)/tests/test_live_%.o $(BUILD)/tests/support_live.o $(BUILD)/support_sql.a \
                      $(BUILD)/support.a $(BUILD)/core.a | $(BUILD)/highwater.so $(BUILD)/highwater_live.so
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(CMOCKA_LIBS) $(SQLITE_LIBS) $(CODEC_LIBS) $(call pkg,--libs rdkafka)

# What needs a real broker: tests/live.sh runs it.
LIVE_PROGRAMS = $(patsubst tests/live/%.c,$(BUILD)/live_%,$(filter-out %/nodes.c,$(sort $(wildcard tests/live/*.c))))
$(BUILD)/tests/live/%.o: private HW_CFLAGS += -D_GNU_SOURCE -DHW_TEST_LIVE='"$(BUILD)/highwater_live.so"' \
                     $(call pkg,--cflags rdkafka)
$(BUILD)/live_%: $(BUILD)/tests/live/%.o $(BUILD)/tests/live/nodes.o $(BUILD)/tests/support_live.o \
                 $(BUILD)/support_sql.a $(BUILD)/support.a $(BUILD)/core.a | \
                 $(BUILD)/highwater.so $(BUILD)/highwater_live.so
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(CMOCKA_LIBS) $(SQLITE_LIBS) $(CODEC_LIBS) $(call pkg,--libs rdkafka)

$(BUILD)/core.a: $(CORE_OBJ)

$(BUILD)/support.a: $(SUPPORT_OBJ)
$(BUILD)/support_sql.a: $(SQL_SUPPORT_OBJ)
$(BUILD)/%.a:
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/golden_sql: $(BUILD)/tests/golden_sql.o
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(SQLITE_LIBS)

# --- Tests ------------------------------------------------------------------------------------

deps:
	$(Q)CC='$(CC)' tests/deps.sh build test

deps-dev:
	$(Q)CC='$(CC)' tests/deps.sh build test dev

# Below this line programs are made by a make of their own, that goes on where one does not compile
# (its tests then count as failed) and that sees the libraries which deps may just have installed.
MAKE_PROGRAMS = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) -k
RUN = tests/run.sh --build $(BUILD) --jobs $(JOBS) --timeout $(TEST_TIMEOUT)

test: deps
	$(Q)built=0; $(MAKE_PROGRAMS) programs || built=1; \
	  $(RUN) --built $$built checks core sql live golden experiments readme

core-tests sql-tests live-tests golden experiments readme:
	$(Q)built=0; $(MAKE_PROGRAMS) programs || built=1; \
	  $(RUN) --built $$built $(@:%-tests=%)

golden-rewrite: $(BUILD)/golden_sql all
	$(Q)$(BUILD)/golden_sql --rewrite $(BUILD)/highwater.so $(sort $(wildcard tests/golden/*.test))

sql-rewrite: all
	$(Q)tests/experiments.sh --rewrite

readme-rewrite: all
	$(Q)tests/readme.sh --rewrite

demo: deps
	$(Q)$(MAKE_PROGRAMS) all
	@printf '\n%s\n\n' '--- The session of README.md'
	$(Q)tests/readme.sh --show README.md
	@printf '\n%s\n\n' '--- The main experiment: sql/12_package_list.sql'
	$(Q)tests/experiments.sh --show sql/12_package_list.sql

# --- What CI runs on top ----------------------------------------------------------------------

# One after the other, whatever -j says, and on after a failure.
CHECKS = layers trunk symbols documented traceability format-check warnings asan valgrind tsan fuzz soak
check: deps-dev
	$(Q)failed=; for check in $(CHECKS); do \
	  echo "=== make $$check"; $(MAKE) --no-print-directory $$check || failed="$$failed $$check"; done; \
	  test -z "$$failed" || { echo "these checks failed:$$failed"; exit 1; }

layers: $(CORE_OBJ) $(EXT_OBJ)
	$(Q)BUILD=$(BUILD) tests/$@.sh

traceability:
	$(Q)tests/$@.sh

# The map of core/README.md against what runs.
trunk:
	$(Q)$(MAKE_PROGRAMS) BUILD=build/trunk OPT="-O0 -g1" CFLAGS=-finstrument-functions build/trunk/highwater.so
	$(Q)CC='$(CC)' tests/trunk.py build/trunk/highwater.so

symbols documented: $(BUILD)/highwater.so $(CORE_OBJ)
	$(Q)tests/$@.sh $(BUILD)

# No warning from either compiler.
warnings:
	$(Q)failed=0; for compiler in gcc clang; do \
	  $(MAKE_PROGRAMS) BUILD=build/$$compiler CC=$$compiler WERROR=1 programs || failed=1; done; \
	  exit $$failed

SANITIZE = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all

# Everything sanitised, the loaded extension too; the sqlite3 shell gets libasan put in front.
asan:
	$(Q)$(MAKE_PROGRAMS) BUILD=build/asan CC=gcc OPT="$(SANITIZE) -fsanitize=address,undefined" programs
	$(Q)$(MAKE) --no-print-directory BUILD=build/asan asan-run
asan-run:
	$(Q)HW_TEST_QUICK=1 SQLITE3="env LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 sqlite3" \
	  tests/run.sh --build $(BUILD) --jobs $(JOBS) --timeout 300 core sql live golden experiments

# gcc, because Debian's valgrind cannot read the debug information of its clang.
valgrind:
	$(Q)$(MAKE_PROGRAMS) BUILD=build/gcc CC=gcc WERROR=1 programs
	$(Q)$(MAKE) --no-print-directory BUILD=build/gcc valgrind-run
# What these find is found in processes that they kill; under valgrind each takes more than ten minutes. Left out with them is
# test_explore_copies, which compares spans of memory as a whole, padding too.
TRACERS = test_sql_transactional_kill test_sql_transactional_power
valgrind-run:
	$(Q)HW_TEST_QUICK=1 tests/run.sh --build $(BUILD) --jobs $(JOBS) --timeout 900 --wrap "valgrind -q \
	  --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
	  --show-leak-kinds=definite,indirect --keep-debuginfo=yes --child-silent-after-fork=yes" \
	  --without "$(TRACERS) test_explore_copies" core sql live golden

tsan:
	$(Q)$(MAKE_PROGRAMS) BUILD=build/tsan CC=gcc OPT="$(SANITIZE) -fsanitize=thread" \
	  all $(patsubst tests/%.c,build/tsan/%,$(wildcard tests/test_sql_*thread*.c))
	$(Q)$(MAKE) --no-print-directory BUILD=build/tsan tsan-run
tsan-run:
	$(Q)tests/run.sh --build $(BUILD) --timeout 300 threads

fuzz:
	$(Q)$(MAKE_PROGRAMS) BUILD=build/fuzz CC=clang \
	  OPT="$(SANITIZE) -fsanitize=fuzzer-no-link,address,undefined" fuzz-run
fuzz-run: $(FUZZERS)
	$(Q)tests/fuzz.sh $(FUZZ_SECONDS) $^

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/core.a
	@echo "  LINK  $@"
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(CODEC_LIBS)

# A transaction of 1 GiB in 64 MiB of memory; its files take 4 GiB in $$TMPDIR.
soak:
	$(Q)$(MAKE_PROGRAMS) all $(BUILD)/test_sql_large_transaction
	$(Q)HW_STAGED_MIB=1024 TESTS=test_sql_large_transaction \
	  tests/run.sh --build $(BUILD) --timeout 1800 sql

# A kill and a power loss at every moment of SQL transactions that are Kafka's too, and a thousand kills at
# any time: an hour or so.
soak-kills:
	$(Q)$(MAKE_PROGRAMS) all $(TRACERS:%=$(BUILD)/%)
	$(Q)HW_TEST_FULL=1 TESTS='$(TRACERS)' tests/run.sh --build $(BUILD) --timeout 7200 sql

# Small changes to the core that no test notices: MUTANTS='--count 50 core/log'.
mutants:
	$(Q)CC='$(CC)' tests/mutants.py $(MUTANTS)

bench: all $(BENCHES)
	$(Q)set -e; for bench in $(BENCHES); do echo "--- $$bench"; $$bench; done

$(BUILD)/bench_%: $(BUILD)/tests/bench/bench_%.o $(BENCH_SUPPORT_OBJ) $(BUILD)/support.a \
                  $(BUILD)/core.a | $(BUILD)/highwater.so
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(SQLITE_LIBS) $(CODEC_LIBS)

.PHONY: explore explore-large
# What explorations must find, and what not; make explore-large: those that take minutes too.
explore: all
	$(Q)tests/explore.sh --build $(BUILD)
explore-large: all
	$(Q)tests/explore.sh --build $(BUILD) --large

# Against Apache Kafka itself: needs Java and Maven, and fetches Kafka.
interop: all
	$(Q)tests/interop.sh --build $(BUILD)

# highwater_live.so on Apache Kafka itself: needs librdkafka, Java and Maven. make live-bench: how fast it is.
live: all $(LIVE_PROGRAMS)
	$(Q)tests/live.sh --build $(BUILD)
live-newest: all $(LIVE_PROGRAMS) $(LIVE_TESTS)
	$(Q)tests/live.sh --build $(BUILD) --newest
live-bench: all $(BUILD)/live_bench
	$(Q)tests/live.sh --build $(BUILD) --bench

# A Debian as debootstrap makes it, in a chroot: needs root.
bare:
	$(Q)tests/deps.sh bare
	$(Q)tests/bare.sh

# The core on musl, big-endian and with 32 bits.
ports:
	$(Q)tests/deps.sh build ports
	$(Q)tests/ports.sh --jobs $(JOBS)

# On the oldest SQLite that is promised and the newest: SQLITES=--all for those between.
sqlite-versions: deps
	$(Q)tests/deps.sh npm
	$(Q)$(MAKE_PROGRAMS) programs
	$(Q)tests/sqlite_versions.sh --build $(BUILD) --jobs $(JOBS) $(SQLITES)

# build/amalgamation/highwater.c and highwater.h: one file to compile into any program.
amalgamation:
	$(Q)tests/deps.sh build test amalgamation npm
	$(Q)tests/amalgamation.sh

# build/gallery: each experiment as a page.
gallery: all
	$(Q)sql/gallery.py --build $(BUILD)

# The page of timeline(), and the gallery, in a headless Chromium and some in Firefox: needs both, node and npm.
page: all
	$(Q)tests/deps.sh page
	$(Q)tests/page.sh --build $(BUILD)

# build/packages, and each of them installed and used: PLATFORMS=--all for a release.
PLATFORMS ?= linux-x86_64 linux-aarch64 musl-x86_64
packages:
	$(Q)tests/deps.sh build test amalgamation npm packages
	$(Q)ext/packaging/packages.sh $(PLATFORMS)
	$(Q)ext/packaging/deb.sh
	$(Q)tests/packages.sh

# The library for Windows, under wine.
windows:
	$(Q)tests/deps.sh build test amalgamation npm packages windows
	$(Q)tests/windows.sh

# In Python and in Node: needs a python3 that can load extensions, node and npm.
bindings: all
	$(Q)tests/bindings.sh --build $(BUILD)

# Not used: two checkers that warn of every memcpy, and of vsnprintf.
tidy:
	clang-tidy --quiet --warnings-as-errors='*' --checks='clang-analyzer-*,bugprone-branch-clone,bugprone-macro-parentheses,bugprone-sizeof-expression,bugprone-suspicious-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.Uninitialized' \
	  $(CORE) $(EXT) -- -std=c11 -I. $(SQLITE_CFLAGS)

format:
	clang-format -i $(C_FILES)
format-check:
	$(Q)clang-format --dry-run -Werror $(C_FILES)

# --- Installing -------------------------------------------------------------------------------

install: $(BUILD)/highwater.so
	install -d $(DESTDIR)$(LIBDIR)/sqlite3
	install -m 755 $< $(DESTDIR)$(LIBDIR)/sqlite3/highwater.so
install-live: $(BUILD)/highwater_live.so
	install -d $(DESTDIR)$(LIBDIR)/sqlite3
	install -m 755 $< $(DESTDIR)$(LIBDIR)/sqlite3/highwater_live.so
uninstall:
	rm -f $(DESTDIR)$(LIBDIR)/sqlite3/highwater.so $(DESTDIR)$(LIBDIR)/sqlite3/highwater_live.so

clean:
	rm -rf build highwater.so highwater_live.so

-include $(wildcard $(addprefix $(BUILD)/,$(addsuffix *.d,generated/ core/ core/*/ ext/ ext/*/ tests/ tests/*/)))
