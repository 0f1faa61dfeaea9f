#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <dnnl.hpp>

#include "backends/native/program.h"

namespace fusescope::native {

/// The one CPU engine of the process.
dnnl::engine& dnnlEngine();

/// Runs `body`, turning oneDNN's exceptions into a Diagnostic that says what was being prepared.
template <class T>
Result<T> guardDnnl(const std::string& what, const std::function<Result<T>()>& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    return Diagnostic{.message = "oneDNN cannot prepare " + what + ": " + error.what()};
  }
}

std::optional<dnnl::memory::data_type> dnnlType(DataType type);

/// The memory descriptor of a whole tensor; nothing for a type or rank that oneDNN does not know.
std::optional<dnnl::memory::desc> dnnlDesc(const TensorDesc& desc);
/// The format of which `desc` (of extents `dims`) is an instance, if any.
std::optional<MemoryFormat> formatOf(const dnnl::memory::desc& desc, const Dims& dims);
/// Formats in which most implementations take activations of `rank` axes.
std::vector<MemoryFormat> usualFormats(std::size_t rank);
/// A descriptor with explicit strides, for plain references.
dnnl::memory::desc dnnlStrided(const Ref& ref);

/// A oneDNN primitive with its arguments, ready to be called: addresses are set at run time, scratchpad included.
class DnnlStep final : public Step {
 public:
  struct Argument {
    int id;
    dnnl::memory::desc desc;
    BufferIndex buffer;
    std::size_t byteOffset = 0;
  };
  /// `owned` are memories the step keeps (weights), given with their argument ids.
  DnnlStep(dnnl::primitive primitive, std::vector<Argument> arguments, dnnl::memory::desc scratchpad,
           std::vector<std::pair<int, dnnl::memory>> owned = {});
  Status run(Memory memory, std::byte* scratch) override;
  std::size_t scratchBytes() const override { return m_scratchBytes; }
  std::size_t weightBytes() const override { return m_weightBytes; }

 private:
  dnnl::primitive m_primitive;
  dnnl::stream m_stream;
  std::vector<Argument> m_arguments;
  std::vector<dnnl::memory> m_memories;  ///< as m_arguments, then the scratchpad, then the owned ones
  std::vector<dnnl_exec_arg_t> m_call;
  std::size_t m_scratchBytes = 0;
  std::size_t m_weightBytes = 0;
};

/// An argument whose data begin at `ref`.
DnnlStep::Argument argumentAt(int id, const dnnl::memory::desc& desc, const Ref& ref);

/// Attributes with the scratchpad given by us.
dnnl::primitive_attr userScratchpad(dnnl::post_ops operations = {});

/// `source` (dense, row-major data in host memory) reordered into a new memory of `target`.
dnnl::memory reordered(const std::byte* source, const dnnl::memory::desc& from, const dnnl::memory::desc& target);

/// Copies a whole tensor between formats and float types.
Result<std::unique_ptr<Step>> makeReorder(const dnnl::memory::desc& from, BufferIndex source,
                                          const dnnl::memory::desc& to, BufferIndex target,
                                          std::size_t sourceByteOffset = 0);

}  // namespace fusescope::native
