#pragma once

#include <QString>
#include <optional>

#include "ui/document/by_handle.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// The plan that a displayed error belongs to.
enum class ErrorKind {
  Measured,     ///< the displayed plan
  OfOtherPlan,  ///< a kernel with the same nodes and types in another plan; it has no carried error here
  Unknown
};

/// The errors that the types of one fused node cause.
struct ShownError {
  ErrorKind kind = ErrorKind::Unknown;
  LocalAndCarried errors;
  /// Whether the error reaches an output of the network through wrong tensors; true for another plan, for which this is
  /// unknown.
  bool reachesOutput = true;
};
using Which = std::optional<TensorError> LocalAndCarried::*;  ///< &LocalAndCarried::local or ::carried

/// The errors of one run, and how they are judged.
struct ShownErrors {
  ByHandle<ShownError> of;
  double bound = 0;     ///< the bound of max|Δ| over rms above which a node is wrong
  QString made;         ///< "run 3, 2 pins, on 8 samples of photos.npz"; empty: there are no errors
  QString madeBriefly;  ///< "run 3, on 8 samples"
  QString against;      ///< "f32", "f64"
  bool random = false;
  bool isSameObject(const ShownErrors& other) const { return of.isSameObject(other.of) && bound == other.bound; }
  ShownError find(const std::string& handle) const;
};

/// The size of an error relative to the bound. Each level has words, so that colour is never the only clue. Harmless:
/// above the bound, but no output of the network becomes wrong. CannotBeDetermined: it was measured, but no element is
/// a number that can be compared.
enum class ErrorLevel { Unknown, CannotBeDetermined, Exact, FarWithin, Within, Harmless, Beyond, FarBeyond, NotFinite };
ErrorLevel levelOf(const ShownError& error, Which which, double bound);
QString levelText(ErrorLevel level);  ///< "within what is allowed"
inline bool isWrong(ErrorLevel level) {
  return level >= ErrorLevel::Beyond;
}

// Numbers have enough digits to be distinguished from `bound`, by which they are judged.

/// Returns a short text, "3e-4": max|Δ| over rms, or for codes the relative L2 error; "∞" if it is not finite, "?" if
/// it cannot be determined, empty if it is unknown.
QString shortErrorText(const std::optional<TensorError>& error, double bound);
/// Returns "0.00034 / 0.0001": max|Δ| over rms and the relative L2 error, with at least two digits, or "cannot be
/// determined"; in brackets for another plan.
QString errorPairText(const ShownError& error, Which which, double bound);
/// Returns everything that is known: "max|Δ| 0.0003 of rms · relative L2 … · 12 ulp · cosine … · 3 % became infinite or
/// NaN".
QString errorFactsText(const TensorError& error);
/// Returns whether it is a culprit, a victim or neither: "wrong by itself, its inputs exact: a culprit".
QString roleText(const ShownError& error, double bound);

}  // namespace fusescope
