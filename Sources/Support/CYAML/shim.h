#ifndef CHUNKWISE_CYAML_H
#define CHUNKWISE_CYAML_H

#include <yaml.h>

#endif
