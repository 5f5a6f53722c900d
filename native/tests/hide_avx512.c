// Hides AVX-512, AVX-VNNI and AMX from a program, to measure libraries as on an older processor. Linux on x86-64,
// where /proc/cpuinfo has the flag cpuid_fault: the instruction CPUID then raises a signal, which is answered here.
//
//     gcc -shared -fPIC -O1 native/tests/hide_avx512.c -o hide_avx512.so
//     LD_PRELOAD=$PWD/hide_avx512.so python tools/bench.py --compare winograd models/goryu-5x64-int8.onnx
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (1U << (n))

static void allow_cpuid(int is_allowed) {
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, is_allowed) != 0) perror("hide_avx512: ARCH_SET_CPUID");
}

static void answer_cpuid(int number, siginfo_t* info, void* context) {
    greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
    const uint8_t* const instruction = (const uint8_t*)registers[REG_RIP];
    (void)info;
    if (instruction[0] != 0x0F || instruction[1] != 0xA2) {  // A true fault: it happens again, unhandled.
        signal(number, SIG_DFL);
        return;
    }
    const uint32_t leaf = (uint32_t)registers[REG_RAX], subleaf = (uint32_t)registers[REG_RCX];
    uint32_t a, b, c, d;
    allow_cpuid(1);
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(subleaf));
    allow_cpuid(0);
    if (leaf == 7 && subleaf == 0) {
        b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(28) | BIT(30) | BIT(31));  // AVX-512 F, DQ, IFMA, CD, BW, VL
        c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));  // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
        d &= ~(BIT(22) | BIT(23) | BIT(24) | BIT(25));          // AMX-BF16, AVX-512 FP16, AMX-TILE, AMX-INT8
    }
    if (leaf == 7 && subleaf == 1) {
        a &= ~(BIT(4) | BIT(5));  // AVX-VNNI, AVX-512 BF16
        d &= ~(BIT(4) | BIT(10));  // AVX-VNNI-INT8 and -INT16
    }
    registers[REG_RAX] = a;
    registers[REG_RBX] = b;
    registers[REG_RCX] = c;
    registers[REG_RDX] = d;
    registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
    struct sigaction action = {0};
    action.sa_sigaction = answer_cpuid;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, 0);
    allow_cpuid(0);
}
