#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::ops {

// The places where RoiAlign samples an image, as the ONNX operator RoiAlign defines them.

/// The attributes of a RoiAlign.
struct RoiAlignForm {
  bool halfPixel = true;     ///< coordinates are shifted by half a pixel
  bool largest = false;      ///< the result of a bin is the largest of its samples; otherwise their mean
  double scale = 1;          ///< factor from the coordinates of regions to pixels
  std::int64_t samples = 0;  ///< samples along each side of a bin; 0: one per pixel
  static RoiAlignForm of(const Node& node);
};

/// The four neighbours of a place and their weights. All are 0 if the place is more than a pixel outside the image.
struct Neighbours {
  std::int64_t at[4] = {0, 0, 0, 0};  ///< row-major indices in the image plane
  double weight[4] = {0, 0, 0, 0};
};

/// The samples of every bin of a region. Bins are in row-major order, and each has the same number of samples.
struct RegionSamples {
  std::size_t perBin = 0;
  std::vector<Neighbours> samples;
};

/// `region` contains x and y of two corners. It is an error if a coordinate is not finite or the region is absurdly
/// large.
Result<RegionSamples> regionSamples(const RoiAlignForm& form, const double (&region)[4], std::int64_t binsDown,
                                    std::int64_t binsAcross, std::int64_t height, std::int64_t width);

/// Returns the index of the image that a region refers to; it is an error if there is no such image.
Result<std::int64_t> imageOfRegion(double number, std::int64_t images);

/// Computes one bin of one image plane: the mean of the bilinear samples, or the largest weighted neighbour of all
/// samples. ONNX's reference implementation takes the maximum in this way, before the four neighbours are added.
template <class T>
double pooledBin(const T* image, const Neighbours* samples, std::size_t count, bool largest) {
  double result = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0, most = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double part = samples[i].weight[k] * static_cast<double>(image[samples[i].at[k]]);
      sum += part;
      most = k == 0 || part > most ? part : most;
    }
    result = !largest ? result + sum : i == 0 || most > result ? most : result;
  }
  return largest || count == 0 ? result : result / static_cast<double>(count);
}

}  // namespace fusescope::ops
