# The functions of web.sym as a program: where they are is told to ld.
	.macro	function name
	.globl	\name
	.type	\name, %function
\name:	.fill	0x100, 1, 0x90
	.size	\name, . - \name
	.endm

	.text
	function leaf
	function middle
	function main
	function idle
