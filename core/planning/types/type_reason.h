#pragma once

#include <string_view>

namespace fusescope {

/// Why a node calculates in its type.
enum class TypeReason {
  Default,        ///< no other type was asked for, so that it keeps its own
  NotFloat,       ///< it computes no floats
  Moved,          ///< it moves elements
  AuthorCast,     ///< it is a Cast of the author
  Author,         ///< the network declares the type
  Fallback,       ///< it runs in fallback
  Quantised,      ///< it multiplies integer codes
  TypeKept,       ///< the target computes it in no other type
  OperatorLacks,  ///< the target does not run its operator in the type that was asked for
  Lowered,        ///< --precision asks for the type
  LoweredByEdit,  ///< --precision asks for the type, which needs an edit of the network
  Measured,       ///< prices chose the type
  NotMeasured,    ///< prices could have chosen another type, but nothing was measured
  PinGranted,
  PinByEdit,   ///< a pin asks for the type, which needs an edit of the network
  PinRefused,  ///< the pin has `obey`
  PinNotHonoured,
  NothingToPin
};

/// Returns the code of the decision for this reason, such as "precision.default".
std::string_view codeOf(TypeReason reason);

/// Returns whether the type is the one that a pin asked for.
inline bool isGranted(TypeReason reason) {
  return reason == TypeReason::PinGranted || reason == TypeReason::PinByEdit;
}

}  // namespace fusescope
