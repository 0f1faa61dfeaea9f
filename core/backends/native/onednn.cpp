#include "backends/native/onednn.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>

#include "backends/native/weight.h"
#include "base/hash.h"

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

/// Returns the format of a descriptor, regardless of its extents. Returns nothing if the descriptor has gaps or an
/// order that is no MemoryFormat.
std::optional<MemoryFormat> readFormat(const memory::desc& desc) {
  if (desc.get_format_kind() != memory::format_kind::blocked) return std::nullopt;
  const auto strides = desc.get_strides();
  MemoryFormat::Order order(strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  std::vector<MemoryFormat::Block> blocks;
  const auto extents = desc.get_inner_blks(), axes = desc.get_inner_idxs();
  for (std::size_t i = 0; i < extents.size(); ++i) blocks.push_back({static_cast<std::size_t>(axes[i]), extents[i]});
  return MemoryFormat::of(std::move(order), std::move(blocks));
}

constexpr std::size_t kMostAxesOfOneDnn = 6;

/// Returns oneDNN's tags of the formats for tensors of `rank` axes. oneDNN can make such descriptors only from a tag.
const std::map<MemoryFormat, memory::format_tag>& tagsOf(std::size_t rank) {
  static const std::array<std::map<MemoryFormat, memory::format_tag>, kMostAxesOfOneDnn + 1> tags = [] {
    std::array<std::map<MemoryFormat, memory::format_tag>, kMostAxesOfOneDnn + 1> all;
    constexpr std::int64_t kManyBlocks = 1024;  // an extent at which all orders and blocks can be distinguished
    for (std::size_t axes = 1; axes <= kMostAxesOfOneDnn; ++axes) {
      for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
        const auto named = static_cast<memory::format_tag>(tag);
        const memory::desc desc(Dims(axes, kManyBlocks), memory::data_type::u8, named, true);
        if (!desc) continue;  // the tag is for another rank
        if (const auto format = readFormat(desc)) all[axes].emplace(*format, named);
      }
    }
    return all;
  }();
  return tags[rank];
}

std::optional<memory::format_tag> tagOf(const MemoryFormat& format, std::size_t rank) {
  using Tag = memory::format_tag;
  static constexpr Tag plain[] = {Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde, Tag::abcdef};
  if (rank < 1 || rank > kMostAxesOfOneDnn) return std::nullopt;
  if (format.isPlain()) return plain[rank - 1];
  const auto found = tagsOf(rank).find(format);
  return found == tagsOf(rank).end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<memory::desc> dnnlDesc(const TensorDesc& desc) {
  const auto type = dnnlType(desc.dtype);
  const auto tag = tagOf(desc.format, desc.dims.size());
  if (!type || !tag) return std::nullopt;
  return memory::desc(desc.dims, *type, *tag);
}

// If an axis has the extent 1, a descriptor does not determine the order of the axes. The usual formats are tried
// first.
std::optional<MemoryFormat> formatOf(const memory::desc& desc, const Dims& dims) {
  const auto isOf = [&](const MemoryFormat& format) {
    const auto tag = tagOf(format, dims.size());
    return tag && desc == memory::desc(dims, desc.get_data_type(), *tag);
  };
  for (const MemoryFormat& format : usualFormats(dims.size()))
    if (isOf(format)) return format;
  const auto read = readFormat(desc);
  return read && isOf(*read) ? read : std::nullopt;
}

std::vector<MemoryFormat> usualFormats(std::size_t rank) {
  if (rank < 3 || rank > 5) return {MemoryFormat()};
  return {MemoryFormat(), MemoryFormat::blockedChannels(rank, 8), MemoryFormat::blockedChannels(rank, 16),
          MemoryFormat::channelsLast(rank)};
}

memory::desc dnnlStrided(const Ref& ref) {
  Dims strides = ref.strides;  // the stride of an axis of extent 1 has no effect, but must not be 0
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (ref.dims[i] == 1) strides[i] = i + 1 < strides.size() ? strides[i + 1] * ref.dims[i + 1] : 1;
  }
  return memory::desc(ref.dims, *dnnlType(ref.dtype), strides);
}

DnnlStep::DnnlStep(dnnl::primitive primitive, std::vector<Argument> arguments, memory::desc scratchpad)
    : m_primitive(std::move(primitive)), m_arguments(std::move(arguments)), m_scratchpad(std::move(scratchpad)) {
  m_idle.push_back(makeCall());
}

std::unique_ptr<DnnlStep::Call> DnnlStep::makeCall() const {
  auto call = std::make_unique<Call>();
  call->stream = dnnl::stream(dnnlEngine());
  const auto add = [&](int id, const memory::desc& desc) {
    call->memories.push_back(memory(desc, dnnlEngine(), DNNL_MEMORY_NONE));
    call->arguments.push_back({id, call->memories.back().get()});
  };
  for (const Argument& argument : m_arguments) add(argument.id, argument.desc);
  add(DNNL_ARG_SCRATCHPAD, m_scratchpad);
  return call;
}

std::unique_ptr<DnnlStep::Call> DnnlStep::takeCall() const {
  {
    const std::lock_guard lock(m_mutex);
    if (!m_idle.empty()) {
      auto call = std::move(m_idle.back());
      m_idle.pop_back();
      return call;
    }
  }
  return makeCall();
}

Status DnnlStep::run(Memory memory, std::byte* scratch) const {
  std::unique_ptr<Call> call = takeCall();
  for (std::size_t i = 0; i < m_arguments.size(); ++i) {
    std::byte* address = memory[static_cast<std::size_t>(m_arguments[i].buffer)] + m_arguments[i].byteOffset;
    dnnl_memory_set_data_handle(call->memories[i].get(), address);
  }
  dnnl_memory_set_data_handle(call->memories.back().get(), scratch);
  const dnnl_status_t status = dnnl_primitive_execute(m_primitive.get(), call->stream.get(),
                                                      static_cast<int>(call->arguments.size()), call->arguments.data());
  const std::lock_guard lock(m_mutex);
  m_idle.push_back(std::move(call));
  if (status != dnnl_success) return Diagnostic{.message = "oneDNN could not run a prepared primitive"};
  return Done{};
}

DnnlStep::Argument argumentAt(int id, const memory::desc& desc, const Ref& ref) {
  return {id, desc, ref.buffer, byteSize(ref.dtype, ref.offset)};
}

std::vector<DnnlStep::Argument> argumentsUpTo(const dnnl::post_ops& operations,
                                              std::vector<DnnlStep::Argument> arguments, const memory::desc& target,
                                              BufferIndex into) {
  const int end = DNNL_ARG_ATTR_MULTIPLE_POST_OP(operations.len());
  std::erase_if(arguments, [&](const DnnlStep::Argument& argument) { return argument.id >= end; });
  for (DnnlStep::Argument& argument : arguments)
    if (argument.id == DNNL_ARG_DST) argument = {DNNL_ARG_DST, target, into};
  return arguments;
}

dnnl::primitive_attr userScratchpad(dnnl::post_ops operations) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(operations);
  return attributes;
}

// The contents of a descriptor that is not blocked cannot be read. Its key is therefore different from every other key,
// even from that of an equal descriptor.
std::string formatKey(const memory::desc& desc) {
  static std::atomic<std::uint64_t> opaque = 0;
  KeyBuilder key;
  key.number(static_cast<int>(desc.get_data_type())).number(static_cast<int>(desc.get_format_kind()));
  if (desc.get_format_kind() != memory::format_kind::blocked) return key.number(++opaque).canonical();
  for (const memory::dims& numbers : {desc.get_dims(), desc.get_padded_dims(), desc.get_padded_offsets(),
                                      desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()}) {
    key.number(numbers.size());
    for (const memory::dim number : numbers) key.number(number);
  }
  return key.number(desc.get_size()).canonical();
}

Tensor reordered(const std::byte* source, const memory::desc& from, const memory::desc& target) {
  Tensor packed = packedMemory(target.get_size());
  memory input(from, dnnlEngine(), const_cast<std::byte*>(source));
  memory output(target, dnnlEngine(), packed.mutableBytes());
  dnnl::stream stream(dnnlEngine());
  dnnl::reorder(input, output).execute(stream, input, output);
  stream.wait();
  return packed;
}

Result<std::unique_ptr<Step>> makeReorder(const memory::desc& from, BufferIndex source, const memory::desc& to,
                                          BufferIndex target, std::size_t sourceByteOffset) {
  return guardDnnl<std::unique_ptr<Step>>("a format conversion", [&]() -> Result<std::unique_ptr<Step>> {
    const dnnl::reorder::primitive_desc description(dnnlEngine(), from, dnnlEngine(), to, userScratchpad());
    std::vector<DnnlStep::Argument> arguments = {{DNNL_ARG_FROM, from, source, sourceByteOffset},
                                                 {DNNL_ARG_TO, to, target}};
    return std::unique_ptr<Step>(
        std::make_unique<DnnlStep>(dnnl::reorder(description), std::move(arguments), description.scratchpad_desc()));
  });
}

}  // namespace fusescope::native
