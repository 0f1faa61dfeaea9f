#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

/// What `make` gives; nothing where oneDNN has no implementation.
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

/// Whether oneDNN generates the code of this implementation. The others are compiled C++, which may lose NaN without
/// meeting something invalid (number_checks.h). So may deconvolutions by a convolution ("conv:any+jit"): they end in
/// C++.
bool isGenerated(std::string_view implementation);

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

/// An argument whose data begin at `ref`.
DnnlStep::Argument argumentAt(int id, const dnnl::memory::desc& desc, const Ref& ref);

/// `arguments` of a primitive that does no more than `operations` behind it, its result at the begin of a buffer.
std::vector<DnnlStep::Argument> argumentsUpTo(const dnnl::post_ops& operations,
                                              std::vector<DnnlStep::Argument> arguments,
                                              const dnnl::memory::desc& target, BufferIndex into);

/// Attributes with the scratchpad given by us.
dnnl::primitive_attr userScratchpad(dnnl::post_ops operations = {});

/// Canonical bytes of a memory format with its extents; two that are equal lay elements out equally.
std::string formatKey(const dnnl::memory::desc& desc);
/// `source`, which lies as `from` says, reordered into new memory of `target`.
Tensor reordered(const std::byte* source, const dnnl::memory::desc& from, const dnnl::memory::desc& target);

/// Copies a whole tensor between formats and float types.
Result<std::unique_ptr<Step>> makeReorder(const dnnl::memory::desc& from, BufferIndex source,
                                          const dnnl::memory::desc& to, BufferIndex target,
                                          std::size_t sourceByteOffset = 0);

}  // namespace fusescope::native
