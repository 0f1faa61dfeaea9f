#include "engine/description/weight_blob.h"

#include <array>
#include <optional>

#include "base/hash.h"
#include "base/json.h"
#include "base/part_hashes.h"
#include "engine/description/damaged.h"

namespace fusescope {
namespace {

constexpr std::uint64_t kPieceAlignment = 64;
constexpr std::array<std::byte, kPieceAlignment> kPadding{};
constexpr std::uint64_t kSmallBytes = 1 << 16;

}  // namespace

Json WeightBlobWriter::add(const Tensor& tensor) {
  Json json{{"type", name(tensor.type())}, {"dims", tensor.dims()}};
  if (!tensor.hasData() || m_stop.stop_requested()) return json;
  if (tensor.type() == DataType::String) {
    json["strings"] = tensor.strings();
    return json;
  }
  m_keep.push_back(tensor);
  const std::span<const std::byte> data(tensor.bytes(), tensor.byteSize());
  json["offset"] = m_bytes;
  json["bytes"] = data.size();
  const std::optional<Hash128> known = partHash(m_files, data);
  json["hash"] = (known ? *known : hashBytes(data)).hex();
  m_pieces.push_back(data);
  m_bytes += data.size();
  const std::uint64_t padding = (kPieceAlignment - m_bytes % kPieceAlignment) % kPieceAlignment;
  m_pieces.push_back(std::span(kPadding).first(padding));
  m_bytes += padding;
  return json;
}

Result<Tensor> WeightBlobReader::read(const Json& json) const {
  const auto type = dataTypeFromName(json.at("type").get<std::string>());
  if (!type) return damaged("a tensor has the unknown type " + json.at("type").get<std::string>());
  Dims dims = json.at("dims").get<Dims>();
  for (const std::int64_t extent : dims)
    if (extent < 0) return damaged("a tensor has a negative extent");
  const auto count = elementCount(dims);
  if (!count) return damaged("a tensor has extents that are too large: " + toText(dims));
  if (json.contains("strings")) {
    auto strings = json.at("strings").get<std::vector<std::string>>();
    if (strings.size() != static_cast<std::size_t>(*count)) return damaged("a text tensor lacks elements");
    return Tensor::ofStrings(std::move(dims), std::move(strings));
  }
  if (!json.contains("offset")) return Tensor::withoutData(*type, std::move(dims));
  const auto offset = json.at("offset").get<std::uint64_t>();
  const auto bytes = json.at("bytes").get<std::uint64_t>();
  if (offset % kPieceAlignment != 0 || offset > m_blob.size() || bytes > m_blob.size() - offset ||
      bytes != byteSize(*type, *count))
    return damaged("a tensor lies outside of the weights");
  const auto data = m_blob.subspan(offset, bytes);
  const bool isChecked = m_check == WeightCheck::All || bytes <= kSmallBytes;
  if (isChecked && hashBytes(data).hex() != json.at("hash").get<std::string>())
    return damaged("weights do not match their checksum");
  m_file->release(data);  // the data were read only to be checked; they are read again when they are needed
  return Tensor::view(*type, std::move(dims), m_file, data.data());
}

}  // namespace fusescope
