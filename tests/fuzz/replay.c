// SPDX-License-Identifier: GPL-2.0
/*
 * Gives each file of the command line to a fuzz target once. In place of libFuzzer, on
 * architectures for which the machine has none (tests/fuzz/run --arch).
 */
#include <errno.h>

#include "fuzz.h"

/* More than the longest input of any target */
#define INPUT_BYTES	4096

static int replay(const char *path)
{
	u8 read_into[INPUT_BYTES], *data;
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f) {
		fprintf(stderr, "replay: cannot open %s: %s\n", path, strerror(errno));
		return 1;
	}
	size = fread(read_into, 1, sizeof(read_into), f);
	if (ferror(f) || size == sizeof(read_into)) {
		fprintf(stderr, "replay: cannot read %s, or it has %d bytes or more\n", path,
			INPUT_BYTES);
		fclose(f);
		return 1;
	}
	fclose(f);
	/* Of just its size, so that AddressSanitizer catches an access behind it */
	data = malloc(size);
	if (size && !data) {
		fprintf(stderr, "replay: no memory for the %zu bytes of %s\n", size, path);
		return 1;
	}
	if (size)
		memcpy(data, read_into, size);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		fprintf(stderr, "replay: no input (expected files)\n");
		return 2;
	}
	for (i = 1; i < argc; i++) {
		/* As libFuzzer prints it: tests/fuzz/run takes the last one for the culprit */
		fprintf(stderr, "Running: %s\n", argv[i]);
		if (replay(argv[i]))
			return 1;
	}
	return 0;
}
