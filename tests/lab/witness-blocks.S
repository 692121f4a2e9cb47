/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of instructions that witness-exact counts. Each is called with a number in rdi
 * and memory in rsi; what it costs beyond block_empty, which is a lone ret, is said as
 * "instructions / branches" for n rounds. A comment names what a round holds.
 */
#include <asm/unistd.h>

#define BLOCK(name)	.globl block_##name; .balign 16; block_##name:

	.text

BLOCK(empty)
	ret

/* 1 + 2n / n */
BLOCK(loop)
	mov	%rdi, %rcx
1:	dec	%rcx
	jnz	1b
	ret

/* 2 + 14n / 11n: of the branches three are ret, which come back from calls */
BLOCK(branches)
	mov	%rdi, %rcx
	lea	3f(%rip), %rdx
1:	jmp	2f			/* direct jump */
	ud2
2:	jmp	*%rdx			/* indirect jump */
	ud2
3:	call	leaf			/* direct call, and its ret */
	call	*leaf_address(%rip)	/* indirect call through memory, and its ret */
	xor	%eax, %eax
	jz	4f			/* taken */
	ud2
4:	xor	%r8d, %r8d
	lea	leaf(%rip), %rax
	call	*%rax			/* indirect call, and its ret */
	jmp	5f
	ud2
5:	loop	1b			/* taken but for the last */
	ret

leaf:
	ret

	.section .rodata
	.balign 8
leaf_address:
	.quad	leaf
	.text

/* 1 + 7n / 4n: all but the last are not taken */
BLOCK(never_taken)
	mov	%rdi, %rcx
1:	mov	$1, %eax
	test	%eax, %eax
	jz	2f
	js	3f
2:	jrcxz	3f
	dec	%rcx
	jnz	1b
3:	ret

/* 4 / 0 */
BLOCK(rep_stos)
	mov	%rdi, %rcx
	mov	%rsi, %rdi
	xor	%eax, %eax
	rep stosb
	ret

/* 4 / 0: the first bytes differ */
BLOCK(repe_cmps)
	mov	%rdi, %rcx
	lea	different(%rip), %rdi
	lea	1(%rdi), %rsi
	repe cmpsb
	ret

	.section .rodata
different:
	.byte	1, 2, 3, 4
	.text

/* 1 + 5n / n: a load and a store in each of n pages */
BLOCK(touch)
	mov	%rdi, %rcx
1:	incb	(%rsi)
	mov	8(%rsi), %rax
	add	$4096, %rsi
	dec	%rcx
	jnz	1b
	ret

/* 1 + 4n / 2n: the system call clobbers rcx */
BLOCK(getppid)
	mov	%rdi, %rdx
1:	mov	$__NR_getppid, %eax
	syscall
	dec	%rdx
	jnz	1b
	ret

/* 1 + 4n / n: getpid of the 32-bit ABI */
BLOCK(int80)
	mov	%rdi, %rdx
1:	mov	$20, %eax
	int	$0x80
	dec	%rdx
	jnz	1b
	ret

/* 1 + 2n / n besides what the handler costs */
BLOCK(ud2)
	mov	%rdi, %rcx
1:	ud2
	dec	%rcx
	jnz	1b
	ret

/* 2 + 2n / n besides what the handler costs */
BLOCK(divide)
	mov	%rdi, %rcx
	xor	%esi, %esi
1:	div	%esi			/* two bytes */
	dec	%rcx
	jnz	1b
	ret

/* 2 + 2n / n besides what the handler costs */
BLOCK(load)
	mov	%rdi, %rcx
	xor	%eax, %eax
1:	mov	(%rax), %al		/* two bytes */
	dec	%rcx
	jnz	1b
	ret

/* 1 + 3n / n besides what the handler costs */
BLOCK(int3)
	mov	%rdi, %rcx
1:	int3
	dec	%rcx
	jnz	1b
	ret

/* 2 + 7n / n */
BLOCK(cpuid)
	mov	%rdi, %rsi
	mov	%rbx, %r8
1:	xor	%eax, %eax
	xor	%ecx, %ecx
	cpuid
	rdtsc
	mov	%r8, %rbx
	dec	%rsi
	jnz	1b
	ret

/* 1 + 3n / n */
BLOCK(outb)
	mov	%rdi, %rcx
1:	outb	%al, $0x80
	dec	%rcx
	jnz	1b
	ret

/* 1 + 4n / n: each round rewrites the operand of the next instruction; copied before use */
BLOCK(self_modifying)
	mov	%rdi, %rcx
1:	mov	%cl, 2f+1(%rip)
2:	mov	$0, %al
	dec	%rcx
	jnz	1b
	ret
	.globl	block_self_modifying_end
block_self_modifying_end:

/* 1 + 10n / 2n: sched_setaffinity of the caller to CPU 0 and 1 in turn */
BLOCK(hop)
	mov	%rdi, %r8
1:	mov	%r8d, %eax
	and	$1, %eax
	lea	masks(%rip), %rdx
	lea	(%rdx,%rax,8), %rdx
	mov	$8, %esi
	xor	%edi, %edi
	mov	$__NR_sched_setaffinity, %eax
	syscall
	dec	%r8
	jnz	1b
	ret

	.section .rodata
	.balign 8
masks:
	.quad	1, 2
	.text

/* add, ret and the restorer's mov and syscall: 4 / 2 */
	.globl	handler_skip2
handler_skip2:
	addq	$2, 168(%rdx)		/* rip in struct ucontext */
	ret

/* 3 / 2 with the restorer */
	.globl	handler_return
handler_return:
	ret

	.globl	handler_restorer
handler_restorer:
	mov	$__NR_rt_sigreturn, %eax
	syscall

	.section .note.GNU-stack, "", @progbits
