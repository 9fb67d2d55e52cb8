#include "CCycleCount.h"
