#include "retry.h"

int test_gives_up(void)
{
    return retry_next(0, 9) == -1;
}
