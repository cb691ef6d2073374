// Which precompiled header GCC uses, and what is kept beside it.
#pragma once

/** To be told of each file that GCC opens. */
void noteOpened(const char *path);

/** The precompiled header that GCC opened last; null before one. */
const char *openedHeader();

/**
 * Opens a file of a header's own directory, to read it.
 * @param header its path, `<own>/include/<header>.gch`; may be null.
 * @returns a descriptor; -1 where there is none.
 */
int openBeside(const char *header, const char *name);
