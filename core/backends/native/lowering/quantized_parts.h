#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/native/lowering/quantized_chain.h"
#include "backends/native/lowering/quantized_epilogue.h"
#include "backends/native/onednn.h"

namespace fusescope::native {

/// A chain of codes as one primitive of oneDNN: its arguments besides source, weights and target.
struct QuantizedParts {
  QuantizedEpilogue epilogue;
  ValueId unit;                                    ///< the unit of the scaled sums
  std::vector<ValueId> biases;                     ///< constants, one number per channel
  std::vector<std::pair<int, ValueId>> residuals;  ///< operands of the epilogue, by oneDNN's argument number
  /// Constants per channel that are added after other operations, with their argument number and unit.
  struct Addend {
    int argument;
    ValueId value, unit;
  };
  std::vector<Addend> addends;
  dnnl::memory::desc addendDesc;
  std::size_t included = 0;         ///< number of operations of the chain that are included
  std::optional<CodeScale> result;  ///< the type and scale of the result; nothing: f32
  ValueId value;                    ///< the value that is written

  DataType type() const { return result ? result->type : DataType::F32; }
  /// `scaleMask` is oneDNN's mask of the axes of the weights that have separate scales.
  dnnl::primitive_attr attributes(const CodeScale& source, int scaleMask) const;
};

/// Returns whether the codes of the weights represent numbers around 0; unsigned codes are taken minus 128.
bool weightsAreSymmetric(const Context& context, const QuantizedChain& chain);
/// Includes as many operations of the chain as oneDNN supports, for a result of these extents in this format.
QuantizedParts foldQuantized(const Context& context, const QuantizedChain& chain, const Dims& target,
                             const MemoryFormat& format);
/// Queues the nodes after the first `included` operations of the chain.
void leaveQuantized(Context& context, const QuantizedChain& chain, std::size_t included);

/// Packs a scale for each channel, divided by `unit` if that is valid; a single scale if the second operand is not
/// constant.
Packing quantizedScales(const Context& context, const QuantizedChain& chain, ValueId unit);
/// Packs the sum of the biases for each channel, divided by `unit` if that is valid.
Packing quantizedBias(const Context& context, const QuantizedChain& chain, const std::vector<ValueId>& biases,
                      ValueId unit);
/// Packs weights of int8, or of uint8 minus 128, from the layout `held` to the one that oneDNN needs for codes of
/// `source`.
Packing packCodes(Weight codes, const dnnl::memory::desc& held, const dnnl::memory::desc& target,
                  const CodeScale& source);

/// Returns the descriptor of one f32 number for each channel.
dnnl::memory::desc perChannel(std::int64_t channels);
/// Adds the remaining arguments of a step of `parts`, packed.
void addQuantizedArguments(Context& context, const QuantizedChain& chain, const QuantizedParts& parts,
                           std::vector<DnnlStep::Argument>& arguments);
/// Adds the zero point of the argument `of`, unless it is 0.
void addZeroPoint(Context& context, int of, float zero, std::vector<DnnlStep::Argument>& arguments);

}  // namespace fusescope::native
