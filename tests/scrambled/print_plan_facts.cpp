#include <iostream>

#include "base/json.h"
#include "tests/scrambled/printed_facts.h"

/// plan_facts MODEL HOW: prints what the case comes to.
int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::cout << fusescope::test::factsOf({arguments[1], arguments[2]}).dump();
  return 0;
}
