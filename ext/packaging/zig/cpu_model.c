/* SPDX-License-Identifier: MIT */
/*
 * What __builtin_cpu_supports() reads of an x86-64 processor. The runtimes of gcc and of clang bring it;
 * that of zig does not, so libraries which zig builds bring their own, under the names and in the layout
 * that the compiler expects. Only the features that core/base/crc32c_x86.c asks for are filled in.
 *
 * Source: cpu_model of LLVM's compiler-rt; X86TargetParser.def for the numbers.
 */
#include <cpuid.h>

enum { FEATURE_SSE4_2 = 8, FEATURE_AVX512F = 15, FEATURE_PCLMUL = 19, FEATURE_VPCLMULQDQ = 33 };

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN struct {
    unsigned vendor;
    unsigned type;
    unsigned subtype;
    unsigned features[1];
} __cpu_model;
HIDDEN unsigned __cpu_features2[3];

/* Whether the system saves the registers of 512 bits: state components 1, 2, 5, 6 and 7. */
static int saves_512(void)
{
    unsigned low;
    unsigned high;

    __asm__(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0)); /* xgetbv */
    return (low & 0xe6) == 0xe6;
}

__attribute__((constructor)) static void cpu_model_fill(void)
{
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;
    int has_512;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        return;
    }
    __cpu_model.features[0] |= (ecx & bit_SSE4_2) != 0 ? 1u << FEATURE_SSE4_2 : 0;
    __cpu_model.features[0] |= (ecx & bit_PCLMULQDQ) != 0 ? 1u << FEATURE_PCLMUL : 0;
    has_512 = (ecx & bit_OSXSAVE) != 0 && saves_512();
    if (has_512 && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        __cpu_model.features[0] |= (ebx & bit_AVX512F) != 0 ? 1u << FEATURE_AVX512F : 0;
        __cpu_features2[0] |= (ecx & bit_VPCLMULQDQ) != 0 ? 1u << (FEATURE_VPCLMULQDQ - 32) : 0;
    }
}
