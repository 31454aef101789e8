#include "retry.h"

namespace shop {
class Order {
 public:
  explicit Order(int base) : policy_{base} {}
  int Send() const { return retry_next(&policy_, 1); }

 private:
  retry_policy policy_;
};
}  // namespace shop

int main() { return shop::Order(1).Send(); }
