#pragma once

#include <string_view>

namespace fusescope {

/// Why a node calculates in its type.
enum class TypeReason {
  Default,        ///< The node keeps its own type because no other type was asked for.
  NotFloat,       ///< it computes no floats
  Moved,          ///< it moves elements
  AuthorCast,     ///< it is a Cast of the author
  Author,         ///< the network declares it
  Fallback,       ///< it runs in fallback
  Quantised,      ///< it multiplies the integers that it reads
  TypeKept,       ///< the target computes it in no other
  OperatorLacks,  ///< the target does not run its operator in the type that is asked for
  Lowered,        ///< --precision asks for it
  LoweredByEdit,  ///< likewise, by an edit of the network
  Measured,       ///< prices chose it
  NotMeasured,    ///< prices could have chosen another, but nothing was measured
  PinGranted,
  PinByEdit,   ///< likewise, by an edit of the network
  PinRefused,  ///< though the pin says obey
  PinNotHonoured,
  NothingToPin
};

/// The code of the decision that says so: "precision.default".
std::string_view codeOf(TypeReason reason);

/// Whether it is what a pin asked for.
inline bool isGranted(TypeReason reason) {
  return reason == TypeReason::PinGranted || reason == TypeReason::PinByEdit;
}

}  // namespace fusescope
