#include "tuning/tune_oracle.h"

#include <tuple>

namespace fusescope {

bool cheaper(const PlanCost& a, const PlanCost& b) {
  const bool inBytes = a.bytes && b.bytes;
  const auto order = [&](const PlanCost& cost) {
    const bool known = cost.unknown == 0;
    return std::tuple(!known, known ? cost.ms : 0, cost.casts, inBytes ? *cost.bytes : 0);
  };
  return order(a) < order(b);
}

std::string_view name(TuneEnd end) {
  switch (end) {
    case TuneEnd::Finished:
      return "finished";
    case TuneEnd::Evaluations:
      return "evaluations";
    case TuneEnd::Seconds:
      return "seconds";
    case TuneEnd::Stopped:
      return "stopped";
  }
  return {};
}

}  // namespace fusescope
