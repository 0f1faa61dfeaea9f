#pragma once

#include <QString>
#include <optional>

#include "ui/document/by_handle.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// Of which plan an error on screen is.
enum class ErrorKind {
  Measured,     ///< of the plan on screen
  OfOtherPlan,  ///< of a kernel with the same nodes and types in another plan: it has no carried error here
  Unknown
};

/// What the types of one fused node do.
struct ShownError {
  ErrorKind kind = ErrorKind::Unknown;
  LocalAndCarried errors;
  /// Whether an output of the network is reached over tensors that are wrong; of another plan it is not known: true.
  bool reachesOutput = true;
};
using Which = std::optional<TensorError> LocalAndCarried::*;  ///< &LocalAndCarried::local or ::carried

/// Those of one run, and what they are judged by.
struct ShownErrors {
  ByHandle<ShownError> of;
  double bound = 0;     ///< of max|Δ| over rms: beyond it a node is wrong
  QString made;         ///< "run 3, 2 pins, on 8 samples of photos.npz"; empty: there are none
  QString madeBriefly;  ///< "run 3, on 8 samples"
  QString against;      ///< "f32", "f64"
  bool random = false;
  bool shares(const ShownErrors& other) const { return of.shares(other.of) && bound == other.bound; }
  ShownError find(const std::string& handle) const;
};

/// How large an error is beside what is allowed. In words each; no colour stands without them. Harmless: beyond it, and
/// no output of the network goes wrong by it. CannotBeTold: it was measured, and no element is a number to compare
/// with.
enum class ErrorLevel { Unknown, CannotBeTold, Exact, FarWithin, Within, Harmless, Beyond, FarBeyond, NotFinite };
ErrorLevel levelOf(const ShownError& error, Which which, double bound);
QString levelText(ErrorLevel level);  ///< "within what is allowed"
inline bool isWrong(ErrorLevel level) {
  return level >= ErrorLevel::Beyond;
}

// Numbers have as many digits as tell them from `bound`, which they are judged by.

/// "3e-4" for where there is little room: max|Δ| over rms, of codes the relative L2; "∞" where it is not finite, "?"
/// where it cannot be told, empty where it is not known.
QString shortErrorText(const std::optional<TensorError>& error, double bound);
/// "0.00034 / 0.0001": max|Δ| over rms, and relative L2, in two digits or more, or "cannot be told"; in brackets of
/// another plan.
QString errorPairText(const ShownError& error, Which which, double bound);
/// All that is known of it: "max|Δ| 0.0003 of rms · relative L2 … · 12 ulp · cosine … · 3 % became infinite or NaN".
QString errorFactsText(const TensorError& error);
/// Culprit, victim or neither: "wrong by itself, its inputs exact: a culprit".
QString roleText(const ShownError& error, double bound);

}  // namespace fusescope
