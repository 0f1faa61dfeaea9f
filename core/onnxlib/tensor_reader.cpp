#include "onnxlib/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>

#include "base/packed_bits.h"
#include "onnxlib/bad_tensor.h"
#include "onnxlib/network_bytes.h"
#include "onnxlib/wire_strip.h"

namespace fusescope::onnxlib {
namespace {

std::string extentsText(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

Result<std::int64_t> countOf(const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return badTensor("has a negative extent: " + extentsText(dims));
    empty = empty || dim == 0;
    if (dim == 0) continue;
    if (__builtin_mul_overflow(count, dim, &count) || count > (std::int64_t{1} << 56))
      return badTensor("its extents " + extentsText(dims) +
                       " are too large: the number of elements does not fit into 64 bits");
  }
  return empty ? 0 : count;
}

Result<std::uint64_t> numberOf(const std::string& text, const char* field) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return badTensor("the " + std::string(field) + " of its external data is not a number: '" + text + "'");
  return number;
}

/// Memory that a FileTensor owns, with the alignment of operator new.
struct Owned {
  std::shared_ptr<std::byte[]> memory;
  explicit Owned(std::size_t bytes) : memory(new std::byte[std::max<std::size_t>(bytes, 1)]) {}
};

/// Converts typed repeated fields to the tensor's element type.
template <class Element, class Field>
void copyElements(const Field& field, std::byte* out) {
  std::int64_t i = 0;
  for (const auto value : field) {
    const auto element = static_cast<Element>(value);
    std::memcpy(out + i++ * static_cast<std::int64_t>(sizeof element), &element, sizeof element);
  }
}

/// Converts codes of six bits, one per entry, to the stream of bits of raw data.
template <class Field>
void packSixBits(const Field& field, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  std::int64_t i = 0;
  for (const auto value : field) writePacked(out.data(), i++, 6, static_cast<unsigned>(value));
}

/// The typed field with a tensor's elements: the number of its entries, the number that it must have, and the
/// conversion to the bytes of raw data.
struct TypedField {
  std::int64_t has = 0;
  std::int64_t needs = 0;
  std::function<void(std::span<std::byte>)> copyTo;
};

template <class Element, class Field>
TypedField elementsOf(const Field& field, std::int64_t needs) {
  return {field.size(), needs, [&field](std::span<std::byte> out) { copyElements<Element>(field, out.data()); }};
}

/// Complex numbers take two entries. An entry contains two 4-bit elements, four 2-bit ones, or one 6-bit one. The
/// result refers to `proto`.
TypedField typedFieldOf(const onnx::TensorProto& proto, DataType dtype, std::int64_t count) {
  switch (dtype) {
    case DataType::F32:
      return elementsOf<float>(proto.float_data(), count);
    case DataType::C64:
      return elementsOf<float>(proto.float_data(), count * 2);
    case DataType::F64:
      return elementsOf<double>(proto.double_data(), count);
    case DataType::C128:
      return elementsOf<double>(proto.double_data(), count * 2);
    case DataType::I64:
      return elementsOf<std::int64_t>(proto.int64_data(), count);
    case DataType::U64:
      return elementsOf<std::uint64_t>(proto.uint64_data(), count);
    case DataType::U32:
      return elementsOf<std::uint32_t>(proto.uint64_data(), count);
    case DataType::I32:
      return elementsOf<std::int32_t>(proto.int32_data(), count);
    case DataType::F16:
    case DataType::BF16:
    case DataType::I16:
    case DataType::U16:
      return elementsOf<std::uint16_t>(proto.int32_data(), count);
    case DataType::F6E2M3:
    case DataType::F6E3M2:
      return {proto.int32_data_size(), count,
              [&proto](std::span<std::byte> out) { packSixBits(proto.int32_data(), out); }};
    default:  // 8 bits, or less and packed as in raw data
      return elementsOf<std::uint8_t>(proto.int32_data(), static_cast<std::int64_t>(byteSize(dtype, count)));
  }
}

std::string lengthMismatch(const FileTensor& tensor, std::uint64_t has, std::uint64_t needs, const char* unit) {
  return std::string("contains ") + std::to_string(has) + " " + unit + " of data but " +
         std::string(name(tensor.dtype)) + extentsText(tensor.dims) + " needs " + std::to_string(needs);
}

}  // namespace

DataType dataTypeOf(int onnxType) {
  using P = onnx::TensorProto;
  switch (onnxType) {
    case P::FLOAT:
      return DataType::F32;
    case P::UINT8:
      return DataType::U8;
    case P::INT8:
      return DataType::I8;
    case P::UINT16:
      return DataType::U16;
    case P::INT16:
      return DataType::I16;
    case P::INT32:
      return DataType::I32;
    case P::INT64:
      return DataType::I64;
    case P::STRING:
      return DataType::String;
    case P::BOOL:
      return DataType::Bool;
    case P::FLOAT16:
      return DataType::F16;
    case P::DOUBLE:
      return DataType::F64;
    case P::UINT32:
      return DataType::U32;
    case P::UINT64:
      return DataType::U64;
    case P::COMPLEX64:
      return DataType::C64;
    case P::COMPLEX128:
      return DataType::C128;
    case P::BFLOAT16:
      return DataType::BF16;
    case P::FLOAT8E4M3FN:
      return DataType::F8E4M3;
    case P::FLOAT8E4M3FNUZ:
      return DataType::F8E4M3FNUZ;
    case P::FLOAT8E5M2:
      return DataType::F8E5M2;
    case P::FLOAT8E5M2FNUZ:
      return DataType::F8E5M2FNUZ;
    case P::UINT4:
      return DataType::U4;
    case P::INT4:
      return DataType::I4;
    // The number is used, because older versions of the library do not name them.
    case 23:
      return DataType::F4E2M1;
    case 24:
      return DataType::F8E8M0;
    case 25:
      return DataType::U2;
    case 26:
      return DataType::I2;
    case 27:
      return DataType::F6E2M3;
    case 28:
      return DataType::F6E3M2;
    default:
      return DataType::Undefined;
  }
}

Result<FileTensor> TensorReader::read(const onnx::TensorProto& proto) {
  FileTensor tensor;
  tensor.name = proto.name();
  const auto located = [&](Diagnostic error) {
    error.where.value = tensor.name;
    return error;
  };
  tensor.dtype = dataTypeOf(proto.data_type());
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  if (tensor.dtype == DataType::Undefined)
    return located(
        badTensor("its element type (number " + std::to_string(proto.data_type()) + " in ONNX) is not supported"));
  const auto count = countOf(tensor.dims);
  if (!count.ok()) return located(count.error());
  const std::int64_t elementBits = tensor.dtype == DataType::String ? 8 : bitWidth(tensor.dtype);
  if (count.value() / 8 * elementBits > m_mostBytes)
    return located(badTensor("its extents " + extentsText(tensor.dims) + " are too large: " +
                             std::to_string(count.value() / 8 * elementBits >> 30) + " GiB of data"));
  if (const Status filled = fill(proto, count.value(), tensor); !filled.ok()) return located(filled.error());
  return tensor;
}

MappedFiles TensorReader::files() const {
  MappedFiles files = m_external.opened();
  if (m_file != nullptr) files.insert(files.begin(), m_file);
  return files;
}

Status TensorReader::fill(const onnx::TensorProto& proto, std::int64_t count, FileTensor& tensor) {
  const std::size_t bytes = byteSize(tensor.dtype, count);
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) return fillExternal(proto, bytes, tensor);
  if (count == 0) {
    tensor.hasData = true;
    return Done{};
  }
  if (tensor.dtype == DataType::String) {
    if (proto.string_data_size() == 0) return Done{};
    if (proto.string_data_size() != count)
      return badTensor(lengthMismatch(tensor, static_cast<std::uint64_t>(proto.string_data_size()),
                                      static_cast<std::uint64_t>(count), "strings"));
    tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
    tensor.hasData = true;
    return Done{};
  }
  if (!proto.raw_data().empty()) {
    const auto raw = std::as_bytes(std::span(proto.raw_data().data(), proto.raw_data().size()));
    if (raw.size() != bytes) return badTensor(lengthMismatch(tensor, raw.size(), bytes, "bytes"));
    const Owned copy(bytes);
    std::memcpy(copy.memory.get(), raw.data(), bytes);
    return fillRaw({copy.memory.get(), bytes}, bytes, copy.memory, tensor);
  }

  return fillTyped(proto, count, tensor);
}

Status TensorReader::fillTyped(const onnx::TensorProto& proto, std::int64_t count, FileTensor& tensor) {
  const TypedField field = typedFieldOf(proto, tensor.dtype, count);
  if (field.has == 0) return Done{};  // extents without data, as in a weightless model
  if (field.has != field.needs)
    return badTensor(lengthMismatch(tensor, static_cast<std::uint64_t>(field.has),
                                    static_cast<std::uint64_t>(field.needs), "elements"));
  const std::size_t bytes = byteSize(tensor.dtype, count);
  const Owned copy(bytes);
  const std::span<std::byte> out(copy.memory.get(), bytes);
  field.copyTo(out);
  return fillRaw(out, bytes, copy.memory, tensor);
}

Status TensorReader::fillRaw(std::span<const std::byte> raw, std::size_t bytes, std::shared_ptr<const void> owner,
                             FileTensor& tensor) {
  if (raw.size() != bytes) return badTensor(lengthMismatch(tensor, raw.size(), bytes, "bytes"));
  tensor.owner = std::move(owner);
  tensor.data = raw.data();
  tensor.hasData = true;
  return Done{};
}

Status TensorReader::fillExternal(const onnx::TensorProto& proto, std::size_t bytes, FileTensor& tensor) {
  if (tensor.dtype == DataType::String) return badTensor("contains strings, which cannot be external data");
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == kPayloadKey) {
      const std::uint64_t index = TRY(numberOf(entry.value(), "place"));
      if (index >= m_payloads.size()) return badTensor("its data is outside the file");
      return fillRaw(m_payloads[index], bytes, m_file, tensor);
    }
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = TRY(numberOf(entry.value(), "offset"));
    if (entry.key() == "length") length = TRY(numberOf(entry.value(), "length"));
  }
  if (m_weights != nullptr && location == m_weightsName) return fillFromWeights(offset, bytes, tensor);
  const auto opened = m_external.open(location);
  if (!opened.ok() && m_takesMissingData) return Done{};
  const auto file = TRY(opened);
  if (length && *length != bytes) return badTensor(lengthMismatch(tensor, *length, bytes, "bytes"));
  const auto all = file->bytes();
  if (offset > all.size() || all.size() - offset < bytes)
    return badTensor("its external data '" + location + "' is too short: " + std::to_string(all.size()) +
                         " bytes, but it needs bytes " + std::to_string(offset) + " to " +
                         std::to_string(offset + bytes),
                     "Copy or download it again.");
  return fillRaw(all.subspan(offset, bytes), bytes, file, tensor);
}

void TensorReader::takeWeights(std::shared_ptr<const NetworkBytes> weights, std::string name) {
  m_weights = std::move(weights);
  m_weightsName = std::move(name);
  m_pieces.clear();
  std::uint64_t offset = 0;
  for (const std::span<const std::byte> piece : m_weights->weights) {
    if (!piece.empty()) m_pieces.emplace(offset, piece);
    offset += piece.size();
  }
}

Status TensorReader::fillFromWeights(std::uint64_t offset, std::size_t bytes, FileTensor& tensor) {
  const auto piece = m_pieces.find(offset);
  if (piece == m_pieces.end() || piece->second.size() < bytes)
    return badTensor("its external data '" + m_weightsName + "' are no piece of the weights");
  return fillRaw(piece->second.first(bytes), bytes, m_weights, tensor);
}

ExternalFiles::ExternalFiles(const std::filesystem::path& model) : m_folder(model.parent_path()) {
  if (m_folder.empty()) m_folder = ".";
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(const std::string& location) {
  auto found = m_found.find(location);
  if (found == m_found.end()) found = m_found.emplace(location, find(location)).first;
  return found->second;
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::find(const std::string& location) const {
  const auto refuse = [&](const std::string& why) {
    return Diagnostic{.message = "its external data '" + location + "' " + why};
  };
  if (location.empty()) return Diagnostic{.message = "its data is external, but no location is given"};
  const std::filesystem::path relative(location);
  const char* const inside = "; external data must be in the folder of the model";
  if (relative.is_absolute()) return refuse(std::string("is an absolute path") + inside);
  if (std::ranges::find(relative, std::filesystem::path("..")) != relative.end())
    return refuse(std::string("refers to a place outside the folder") + inside);

  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(m_folder, error);
  if (error) return refuse("cannot be found: " + error.message());
  const std::filesystem::path file = std::filesystem::canonical(folder / relative, error);
  if (error == std::errc::no_such_file_or_directory)
    return Diagnostic{.message = "its external data '" + location + "' is missing",
                      .help = "Put this file into the folder of the model."};
  if (error) return refuse("cannot be opened: " + error.message());
  if (std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first != folder.end())
    return refuse(std::string("is a link to a place outside the folder") + inside);

  auto mapped = MappedFile::open(folder / relative);  // opened by this name, because a link may lead elsewhere later
  if (!mapped.ok()) return refuse(mapped.error().message);
  return mapped;
}

MappedFiles ExternalFiles::opened() const {
  MappedFiles files;
  for (const auto& [location, file] : m_found)
    if (file.ok()) files.push_back(file.value());
  return files;
}

}  // namespace fusescope::onnxlib
