#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "calibration/ranges.h"
#include "session/tensor_slice.h"
#include "session/tensor_words.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// So many elements are looked at, at the most, for statistics of a tensor in the window.
inline constexpr std::int64_t kMostLookedAt = std::int64_t{1} << 24;

/// What is shown of one value: its tensors side by side, and what is known of them. Const once made.
struct TensorFacts {
  std::vector<ShownTensor> shown;              ///< one, or float32's and the plan's
  std::optional<TensorDifference> difference;  ///< of the two
  /// The tensors of which slices are shown: those with numbers, then the difference. All have the same extents.
  std::vector<ShownTensor> sliced;
};
/// Off the GUI thread; null if it is stopped. Of tensors of other extents than the first the first alone is sliced.
std::shared_ptr<const TensorFacts> tensorFacts(std::vector<std::pair<QString, Tensor>> tensors, const StopToken& stop);

/// A slice of each of TensorFacts::sliced; null if it is stopped.
using TensorSlices = std::vector<std::shared_ptr<const TensorSlice>>;
std::shared_ptr<const TensorSlices> tensorSlices(const TensorFacts& facts, const SliceChoice& choice,
                                                 const StopToken& stop);

/// A table of the statistics, and sentences below it.
QString tensorHtml(const TensorFacts& facts, const Theme& theme);

/// The numbers of a tensor for a histogram, with the range that `type` holds of them (Undefined: all), and that in
/// words. Nothing where there is no finite number.
struct TensorHistogram {
  EdgeRange numbers;
  QString words;
};
std::optional<TensorHistogram> tensorHistogram(const TensorStatistics& statistics, DataType type);

}  // namespace fusescope
