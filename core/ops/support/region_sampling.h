#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace fusescope::ops {

// Where RoiAlign samples an image. Semantics: ONNX operator RoiAlign.

/// What the attributes of a RoiAlign say.
struct RoiAlignForm {
  bool halfPixel = true;     ///< pixels are shifted by half of one
  bool largest = false;      ///< of the samples of a bin; otherwise their mean
  double scale = 1;          ///< from the regions' coordinates to pixels
  std::int64_t samples = 0;  ///< along each side of a bin; 0: one a pixel
  static RoiAlignForm of(const Node& node);
};

/// Four neighbours of a place and their weights; none (all 0) if the place is more than a pixel outside the image.
struct Neighbours {
  std::int64_t at[4] = {0, 0, 0, 0};  ///< row-major in the image plane
  double weight[4] = {0, 0, 0, 0};
};

/// The samples of every bin of one region, bins row-major, each with the same number of samples.
struct RegionSamples {
  std::size_t perBin = 0;
  std::vector<Neighbours> samples;
};

/// `region`: x and y of two corners. An error if a coordinate is not finite or the region is absurdly large.
Result<RegionSamples> regionSamples(const RoiAlignForm& form, const double (&region)[4], std::int64_t binsDown,
                                    std::int64_t binsAcross, std::int64_t height, std::int64_t width);

/// The image that a region is of; an error if there is none.
Result<std::int64_t> imageOfRegion(double number, std::int64_t images);

/// One bin of one image plane: the mean of the bilinear samples, or the largest weighted neighbour of any (the maximum
/// that ONNX's reference implementation takes: before the four are added up).
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
