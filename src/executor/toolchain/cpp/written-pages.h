// What the library's other sources want of written-pages.cpp.
#pragma once

/**
 * Maps headers before GCC asks for one, and copies the pages that it will write to.
 * @param paths between colons.
 * @param isWanted ends it early.
 */
void mapHeadersAhead(const char *paths, bool (*isWanted)());

/** Whether it is in the memory that GCC mapped for its header; true where GCC mapped none. */
bool isInHeader(const void *address);
