#ifndef CHUNKWISE_CZLIB_H
#define CHUNKWISE_CZLIB_H

#include <zlib.h>

#endif
