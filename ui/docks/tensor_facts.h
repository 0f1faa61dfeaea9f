#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "calibration/ranges.h"
#include "session/runs/tensor_slice.h"
#include "session/runs/tensor_words.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// The largest number of elements that are examined for statistics of a tensor in the window.
inline constexpr std::int64_t kMostLookedAt = std::int64_t{1} << 24;

/// The displayed tensors of one value side by side, with their statistics. Const after it is made.
struct TensorFacts {
  std::vector<ShownTensor> shown;              ///< one tensor, or that of float32 and that of the plan
  std::optional<TensorDifference> difference;  ///< the difference of the two
  /// The tensors whose slices are shown: those with numbers, then the difference. All have the same extents.
  std::vector<ShownTensor> sliced;
};
/// Computes the facts off the GUI thread; returns null if it is stopped. If the tensors have different extents, only
/// the first one is sliced.
std::shared_ptr<const TensorFacts> tensorFacts(std::vector<std::pair<QString, Tensor>> tensors, const StopToken& stop);

/// Returns a slice of each of TensorFacts::sliced; null if it is stopped.
using TensorSlices = std::vector<std::shared_ptr<const TensorSlice>>;
std::shared_ptr<const TensorSlices> tensorSlices(const TensorFacts& facts, const SliceChoice& choice,
                                                 const StopToken& stop);

/// Returns a table of the statistics, followed by sentences.
QString tensorHtml(const TensorFacts& facts, const Theme& theme);

/// The numbers of a tensor for a histogram, with the range of them that `type` can represent (Undefined: all), and a
/// text about that. There is none if no number is finite.
struct TensorHistogram {
  EdgeRange numbers;
  QString words;
};
std::optional<TensorHistogram> tensorHistogram(const TensorStatistics& statistics, DataType type);

}  // namespace fusescope
