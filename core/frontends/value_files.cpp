#include "frontends/value_files.h"

#include "frontends/onnx/file_tensors.h"
#include "onnxlib/file_content.h"

namespace fusescope {
namespace {

Tensor toValue(const onnxlib::FileContent& content, DataType declared) {
  if (content.container == Container::None) return toTensor(content.tensor);
  std::vector<Tensor> elements;
  for (const auto& element : content.elements) elements.push_back(toValue(element, declared));
  return Tensor::ofElements(content.container, elements.empty() ? declared : elements.front().type(),
                            std::move(elements));
}

}  // namespace

Result<Tensor> readValueFile(const std::filesystem::path& path, const TensorType& declared) {
  return toValue(TRY(onnxlib::readFileContent(path, declared.container)), declared.dtype);
}

}  // namespace fusescope
