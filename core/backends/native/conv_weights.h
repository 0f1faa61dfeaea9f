#pragma once

#include "backends/native/onednn.h"
#include "backends/native/weight.h"

namespace fusescope::native {

/// Filters and bias of a convolution with the biases and batch norms that were folded into them.
class ConvWeights {
 public:
  /// `filters`: Conv: [out, in/g, k…]; ConvTranspose: [in, out/g, k…].
  ConvWeights(Weight filters, bool transposed, std::int64_t groups, std::int64_t channels)
      : m_form{transposed, groups, channels, filters.dims, {}}, m_filters(std::move(filters)) {}

  void addBias(Weight bias);
  /// `parameters`: scale, bias, mean and variance.
  void addBatchNorm(std::vector<Weight> parameters, float epsilon);

  const Dims& held() const { return m_form.held; }
  bool hasBias() const { return !m_form.folds.empty(); }
  /// As oneDNN wants them: [out, in, k…], or [g, out/g, in/g, k…] if there are groups.
  Dims dims() const;
  dnnl::memory::desc biasDesc() const;
  Packing packFilters(const dnnl::memory::desc& target) const;
  Packing packFiltersPlain() const;  ///< as they are held
  Packing packBias() const;          ///< by channel; zeros where there is none

 private:
  struct Fold {
    bool isNorm = false;
    float epsilon = 0;
  };
  struct Form {
    bool transposed = false;
    std::int64_t groups = 1, channels = 0;
    Dims held;
    std::vector<Fold> folds;
    std::string text() const;
    void scaleChannel(float* filters, std::int64_t channel, float factor) const;
    /// The folds, in order, on what is not null. `parameters`: of all folds.
    void apply(std::span<const Tensor> parameters, float* filters, float* bias) const;
    Tensor foldedFilters(std::span<const Tensor> numbers) const;
  };
  dnnl::memory::desc heldDesc() const;
  std::vector<Weight> filtersAndParameters() const;

  Form m_form;
  Weight m_filters;
  std::vector<Weight> m_parameters;
};

}  // namespace fusescope::native
