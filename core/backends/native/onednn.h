#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dnnl.hpp>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Returns the only oneDNN CPU engine of the process.
dnnl::engine& dnnlEngine();

/// Runs `body` and turns oneDNN's exceptions into a Diagnostic; `what` says what was being prepared.
template <class T>
Result<T> guardDnnl(const std::string& what, const std::function<Result<T>()>& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    return Diagnostic{.message = "oneDNN cannot prepare " + what + ": " + error.what()};
  }
}

/// Returns what `make` returns; nothing if oneDNN has no implementation.
template <class Make>
std::optional<std::invoke_result_t<Make>> ifImplemented(const Make& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented) throw;
    return std::nullopt;
  }
}

std::optional<dnnl::memory::data_type> dnnlType(DataType type);

/// Returns the memory descriptor of a whole tensor; nothing for a type or rank that oneDNN does not support.
std::optional<dnnl::memory::desc> dnnlDesc(const TensorDesc& desc);
/// Returns the format that `desc` (of extents `dims`) has, if there is one.
std::optional<MemoryFormat> formatOf(const dnnl::memory::desc& desc, const Dims& dims);
/// Returns the formats that most implementations support for activations of `rank` axes.
std::vector<MemoryFormat> usualFormats(std::size_t rank);
/// Returns a descriptor with explicit strides, for plain references.
dnnl::memory::desc dnnlStrided(const Ref& ref);

/// A oneDNN primitive with its arguments, ready to be called. All addresses, including the scratchpad, are set at run
/// time.
class DnnlStep final : public Step {
 public:
  struct Argument {
    int id;
    dnnl::memory::desc desc;
    BufferIndex buffer;
    std::size_t byteOffset = 0;
  };
  DnnlStep(dnnl::primitive primitive, std::vector<Argument> arguments, dnnl::memory::desc scratchpad);
  Status run(Memory memory, std::byte* scratch) const override;
  std::size_t scratchBytes() const override { return m_scratchpad.get_size(); }

 private:
  /// What oneDNN writes addresses into: one for each call that runs at the same time.
  struct Call {
    dnnl::stream stream;
    std::vector<dnnl::memory> memories;  ///< as m_arguments, then the scratchpad
    std::vector<dnnl_exec_arg_t> arguments;
  };
  std::unique_ptr<Call> makeCall() const;
  std::unique_ptr<Call> takeCall() const;

  dnnl::primitive m_primitive;
  std::vector<Argument> m_arguments;
  dnnl::memory::desc m_scratchpad;
  mutable std::mutex m_mutex;
  mutable std::vector<std::unique_ptr<Call>> m_idle;  ///< guarded by m_mutex
};

/// Returns an argument whose data begin at `ref`.
DnnlStep::Argument argumentAt(int id, const dnnl::memory::desc& desc, const Ref& ref);

/// Returns `arguments` for a primitive with only the post-operations `operations`, whose result begins at the start of
/// the buffer `into`.
std::vector<DnnlStep::Argument> argumentsUpTo(const dnnl::post_ops& operations,
                                              std::vector<DnnlStep::Argument> arguments,
                                              const dnnl::memory::desc& target, BufferIndex into);

/// Returns attributes for a primitive whose scratchpad we provide.
dnnl::primitive_attr userScratchpad(dnnl::post_ops operations = {});

/// Returns canonical bytes of a memory format with its extents. Formats with equal bytes arrange elements equally.
std::string formatKey(const dnnl::memory::desc& desc);
/// Reorders `source`, whose layout is `from`, into new memory with the layout `target`.
Tensor reordered(const std::byte* source, const dnnl::memory::desc& from, const dnnl::memory::desc& target);

/// Makes a step that copies a whole tensor between formats and float types.
Result<std::unique_ptr<Step>> makeReorder(const dnnl::memory::desc& from, BufferIndex source,
                                          const dnnl::memory::desc& to, BufferIndex target,
                                          std::size_t sourceByteOffset = 0);

}  // namespace fusescope::native
