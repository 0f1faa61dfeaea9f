#pragma once

#include "backends/native/onednn.h"
#include "backends/native/weight.h"

namespace fusescope::native {

/// The filters and bias of a convolution, including the biases and batch norms that were folded into them.
class ConvWeights {
 public:
  /// `filters` is [out, in/g, k…] for Conv and [in, out/g, k…] for ConvTranspose.
  ConvWeights(Weight filters, bool transposed, std::int64_t groups, std::int64_t channels)
      : m_form{transposed, groups, channels, filters.dims, {}}, m_filters(std::move(filters)) {}

  void addBias(Weight bias);
  /// `parameters` are scale, bias, mean and variance.
  void addBatchNorm(std::vector<Weight> parameters, float epsilon);

  const Dims& held() const { return m_form.held; }
  bool hasBias() const { return !m_form.folds.empty(); }
  /// Returns the dims in oneDNN's order: [out, in, k…], or [g, out/g, in/g, k…] if there are groups.
  Dims dims() const;
  dnnl::memory::desc biasDesc() const;
  Packing packFilters(const dnnl::memory::desc& target) const;
  Packing packFiltersPlain() const;  ///< in the order of the constant
  Packing packBias() const;          ///< one number per channel; zeros if there is no bias

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
    /// Applies the folds in order to `filters` and `bias`, each of which may be null. `parameters` contains the
    /// parameters of all folds.
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
