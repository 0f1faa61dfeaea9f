#include "planning/types/type_reason.h"

#include <array>
#include <cstddef>

namespace fusescope {

namespace {

constexpr std::array<std::string_view, 18> kCodes{
    "precision.default",          "precision.not_float",     "precision.moved",           "precision.author_cast",
    "precision.author",           "precision.fallback",      "precision.quantised",       "precision.type_kept",
    "precision.operator_lacks",   "precision.lowered",       "precision.lowered_by_edit", "precision.measured",
    "precision.not_measured",     "precision.pin_granted",   "precision.pin_by_edit",     "precision.pin_refused",
    "precision.pin_not_honoured", "precision.nothing_to_pin"};

}  // namespace

std::string_view codeOf(TypeReason reason) {
  return kCodes[static_cast<std::size_t>(reason)];
}

}  // namespace fusescope
