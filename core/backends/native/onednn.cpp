#include "backends/native/onednn.h"

namespace fusescope::native {

using dnnl::memory;

dnnl::engine& dnnlEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::optional<memory::data_type> dnnlType(DataType type) {
  switch (type) {
    case DataType::F32:
      return memory::data_type::f32;
    case DataType::BF16:
      return memory::data_type::bf16;
    case DataType::F16:
      return memory::data_type::f16;
    case DataType::I32:
      return memory::data_type::s32;
    case DataType::I8:
      return memory::data_type::s8;
    case DataType::U8:
      return memory::data_type::u8;
    default:
      return std::nullopt;
  }
}

namespace {

std::optional<memory::format_tag> tagOf(Layout layout, std::size_t rank) {
  using Tag = memory::format_tag;
  static constexpr Tag plain[] = {Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde, Tag::abcdef};
  static constexpr Tag last[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  static constexpr Tag eight[] = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  static constexpr Tag sixteen[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  if (layout == Layout::Plain) return rank >= 1 && rank <= 6 ? std::optional(plain[rank - 1]) : std::nullopt;
  if (rank < 3 || rank > 5) return std::nullopt;
  const std::size_t i = rank - 3;
  if (layout == Layout::ChannelsLast) return last[i];
  return layout == Layout::Blocked8 ? eight[i] : sixteen[i];
}

}  // namespace

std::optional<memory::desc> dnnlDesc(const TensorDesc& desc) {
  const auto type = dnnlType(desc.dtype);
  const auto tag = tagOf(desc.layout, desc.dims.size());
  if (!type || !tag) return std::nullopt;
  return memory::desc(desc.dims, *type, *tag);
}

std::optional<Layout> layoutOf(const memory::desc& desc, const Dims& dims) {
  for (Layout layout : {Layout::Plain, Layout::Blocked8, Layout::Blocked16, Layout::ChannelsLast}) {
    const auto tag = tagOf(layout, dims.size());
    if (tag && desc == memory::desc(dims, desc.get_data_type(), *tag)) return layout;
  }
  return std::nullopt;
}

memory::desc dnnlStrided(const Ref& ref) {
  Dims strides = ref.strides;  // of an axis of extent 1 the stride says nothing, but must not be 0
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (ref.dims[i] == 1) strides[i] = i + 1 < strides.size() ? strides[i + 1] * ref.dims[i + 1] : 1;
  }
  return memory::desc(ref.dims, *dnnlType(ref.dtype), strides);
}

DnnlStep::DnnlStep(dnnl::primitive primitive, std::vector<Argument> arguments, memory::desc scratchpad,
                   std::vector<std::pair<int, memory>> owned)
    : m_primitive(std::move(primitive)), m_stream(dnnlEngine()), m_arguments(std::move(arguments)) {
  const auto add = [this](int id, memory memory) {
    m_call.push_back({id, memory.get()});
    m_memories.push_back(std::move(memory));
  };
  for (const Argument& argument : m_arguments) {
    add(argument.id, memory(argument.desc, dnnlEngine(), DNNL_MEMORY_NONE));
  }
  m_scratchBytes = scratchpad.get_size();
  add(DNNL_ARG_SCRATCHPAD, memory(scratchpad, dnnlEngine(), DNNL_MEMORY_NONE));
  for (auto& [id, memory] : owned) {
    m_weightBytes += memory.get_desc().get_size();
    add(id, std::move(memory));
  }
}

Status DnnlStep::run(Memory memory, std::byte* scratch) {
  for (std::size_t i = 0; i < m_arguments.size(); ++i) {
    std::byte* address = memory[static_cast<std::size_t>(m_arguments[i].buffer)] + m_arguments[i].byteOffset;
    dnnl_memory_set_data_handle(m_memories[i].get(), address);
  }
  dnnl_memory_set_data_handle(m_memories[m_arguments.size()].get(), scratch);
  const dnnl_status_t status =
      dnnl_primitive_execute(m_primitive.get(), m_stream.get(), static_cast<int>(m_call.size()), m_call.data());
  if (status != dnnl_success) return Diagnostic{.message = "oneDNN could not run a prepared primitive"};
  return Done{};
}

DnnlStep::Argument argumentAt(int id, const memory::desc& desc, const Ref& ref) {
  return {id, desc, ref.buffer, byteSize(ref.dtype, ref.offset)};
}

dnnl::primitive_attr userScratchpad(dnnl::post_ops operations) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(operations);
  return attributes;
}

memory reordered(const std::byte* source, const memory::desc& from, const memory::desc& target) {
  memory input(from, dnnlEngine(), const_cast<std::byte*>(source));
  memory output(target, dnnlEngine());
  dnnl::stream stream(dnnlEngine());
  dnnl::reorder(input, output).execute(stream, input, output);
  stream.wait();
  return output;
}

Result<std::unique_ptr<Step>> makeReorder(const memory::desc& from, BufferIndex source, const memory::desc& to,
                                          BufferIndex target, std::size_t sourceByteOffset) {
  return guardDnnl<std::unique_ptr<Step>>("a layout conversion", [&]() -> Result<std::unique_ptr<Step>> {
    const dnnl::reorder::primitive_desc description(dnnlEngine(), from, dnnlEngine(), to, userScratchpad());
    std::vector<DnnlStep::Argument> arguments = {{DNNL_ARG_FROM, from, source, sourceByteOffset},
                                                 {DNNL_ARG_TO, to, target}};
    return std::unique_ptr<Step>(
        std::make_unique<DnnlStep>(dnnl::reorder(description), std::move(arguments), description.scratchpad_desc()));
  });
}

}  // namespace fusescope::native
