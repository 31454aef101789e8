#ifndef RETRY_H
#define RETRY_H

struct retry_policy {
    int base;
};

int retry_next(const struct retry_policy *p, int attempt);

#endif
