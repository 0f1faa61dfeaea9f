#include "app/cli/print_advice.h"

#include <fmt/format.h>

#include <iostream>

namespace fusescope::cli {

void printAdvice(const std::optional<Advice>& advice) {
  if (!advice) return;
  if (advice->pins.empty()) {
    std::cout << fmt::format("no pin around {} repairs it: fusescope tune searches the whole network\n", advice->value);
    return;
  }
  std::string options;
  for (const Directive& pin : advice->pins) options += " " + optionText(pin);
  std::cout << fmt::format("what would repair it:{}\n  {}\n", options, advice->effect);
  if (advice->tried.empty()) {
    std::cout << "  planned, but not run, because that would take long here, or for an unknown time\n";
  } else {
    std::cout << fmt::format("  tried: {}\n", advice->tried);
  }
}

}  // namespace fusescope::cli
