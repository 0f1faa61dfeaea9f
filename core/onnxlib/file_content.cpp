#include "onnxlib/file_content.h"

#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>

#include <climits>

#include "base/mapped_file.h"
#include "onnxlib/bad_tensor.h"
#include "onnxlib/tensor_reader.h"

namespace fusescope::onnxlib {
namespace {

/// Converts the value messages of one file to FileContents.
class ContentReader {
 public:
  explicit ContentReader(const std::filesystem::path& path)
      : m_tensors(nullptr, {}, ExternalFiles(path), ReadLimits{}.tensorBytes) {}

  Result<FileContent> tensor(const onnx::TensorProto& proto) {
    FileContent content;
    content.tensor = TRY(m_tensors.read(proto));
    return content;
  }

  Result<FileContent> sequence(const onnx::SequenceProto& proto) {
    if (proto.elem_type() != onnx::SequenceProto::TENSOR && proto.elem_type() != onnx::SequenceProto::UNDEFINED)
      return badTensor("is a sequence whose elements are not tensors, which is not supported");
    FileContent content{.container = Container::Sequence, .tensor = {}, .elements = {}};
    for (const auto& item : proto.tensor_values()) content.elements.push_back(TRY(tensor(item)));
    return content;
  }

  Result<FileContent> optional(const onnx::OptionalProto& proto, Container container) {
    FileContent content{.container = container, .tensor = {}, .elements = {}};
    switch (proto.elem_type()) {
      case onnx::OptionalProto::UNDEFINED:
        break;
      case onnx::OptionalProto::TENSOR:
        content.elements.push_back(TRY(tensor(proto.tensor_value())));
        break;
      case onnx::OptionalProto::SEQUENCE:
        content.elements.push_back(TRY(sequence(proto.sequence_value())));
        break;
      default:
        return badTensor("is an optional whose element type is not supported");
    }
    return content;
  }

 private:
  TensorReader m_tensors;
};

template <class Proto>
Result<Proto> parsed(std::span<const std::byte> bytes) {
  Proto proto;
  if (bytes.size() > INT_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return badTensor("is not a value of ONNX test data, because protobuf cannot read it");
  return proto;
}

Result<FileContent> contentOf(const MappedFile& file, const std::filesystem::path& path, Container container) {
  ContentReader reader(path);
  if (container == Container::None) return reader.tensor(TRY(parsed<onnx::TensorProto>(file.bytes())));
  if (container == Container::Sequence) return reader.sequence(TRY(parsed<onnx::SequenceProto>(file.bytes())));
  return reader.optional(TRY(parsed<onnx::OptionalProto>(file.bytes())), container);
}

Result<FileContent> contentOf(const std::filesystem::path& path, Container container) {
  const auto file = TRY(MappedFile::open(path));
  auto content = contentOf(*file, path, container);
  TRY(file->checkIntact());
  return content;
}

}  // namespace

Result<FileContent> readFileContent(const std::filesystem::path& path, Container container) {
  try {
    auto content = contentOf(path, container);
    if (content.ok()) return content;
    Diagnostic error = content.error();
    error.where.file = path.string();
    return error;
  } catch (const std::exception& error) {
    return Diagnostic{.message = std::string("the ONNX library failed: ") + error.what(),
                      .where = {.file = path.string()}};
  }
}

}  // namespace fusescope::onnxlib
