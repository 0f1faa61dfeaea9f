#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/native/onednn.h"
#include "backends/native/quantized_chain.h"
#include "backends/native/quantized_epilogue.h"

namespace fusescope::native {

/// A chain of codes as one primitive of oneDNN: what it calls it with, besides source, weights and target.
struct QuantizedParts {
  QuantizedEpilogue epilogue;
  ValueId unit;                                    ///< of the sums, as they are scaled
  std::vector<ValueId> biases;                     ///< constants by channel
  std::vector<std::pair<int, ValueId>> residuals;  ///< operands of the epilogue, by argument
  /// Constants by channel that are added behind other steps: their argument, and the unit in which they are told.
  struct Addend {
    int argument;
    ValueId value, unit;
  };
  std::vector<Addend> addends;
  dnnl::memory::desc addendDesc;
  std::size_t taken = 0;            ///< operations
  std::optional<CodeScale> result;  ///< what is written; nothing: f32
  ValueId value;                    ///< which value that is

  DataType type() const { return result ? result->type : DataType::F32; }
  /// `scaleMask`: which axes of the weights have scales of their own.
  dnnl::primitive_attr attributes(const CodeScale& source, int scaleMask) const;
};

/// How many sums of a convolution or product may each have a scale of their own.
std::int64_t channelsOf(const Node& root, const Dims& result);
/// Whether the codes of the weights stand for numbers around 0: codes less 128 where they are unsigned.
bool weightsAreSymmetric(const Context& context, const QuantizedChain& chain);
/// The chain as far as oneDNN can take it, for a result of these extents in this format.
QuantizedParts foldQuantized(const Context& context, const QuantizedChain& chain, const Dims& target,
                             const MemoryFormat& format);
/// Queues the nodes behind the first `taken` operations of the chain.
void leaveQuantized(Context& context, const QuantizedChain& chain, std::size_t taken);

/// A scale for each channel, divided by `unit` if that is valid; one where the second operand is no constant.
Packing quantizedScales(const Context& context, const QuantizedChain& chain, ValueId unit);
/// The sum of the biases for each channel, divided by `unit` if that is valid.
Packing quantizedBias(const Context& context, const QuantizedChain& chain, const std::vector<ValueId>& biases,
                      ValueId unit);
/// Weights of int8, or of uint8 less 128, which lie as `held` says, as oneDNN wants them for codes of `source`.
Packing packCodes(Weight codes, const dnnl::memory::desc& held, const dnnl::memory::desc& target,
                  const CodeScale& source);

/// A number of f32 for each channel.
dnnl::memory::desc perChannel(std::int64_t channels);
/// Adds the rest of what a step of `parts` is called with, packed.
void addQuantizedArguments(Context& context, const QuantizedChain& chain, const QuantizedParts& parts,
                           std::vector<DnnlStep::Argument>& arguments);
/// Adds the zero point of the argument `of`, unless it is 0.
void addZeroPoint(Context& context, int of, float zero, std::vector<DnnlStep::Argument>& arguments);

}  // namespace fusescope::native
