#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/graph.h"

// The networks that the engines of the shared folder were built from. None of their ONNX files is stored beside them:
// here they are written again from the structure that torchvision, Keras and NVIDIA's cookbook publish, with the names
// that the exporters of then gave. Weights are absent; extents of inputs are the engines'.

namespace fusescope::test {

/// How an exporter of ONNX calls nodes.
enum class ExportedNames {
  Paths,   ///< "/layer1/layer1.0/conv1/Conv": torch.onnx since 1.13
  Numbers  ///< "Conv_3": before that
};

/// Names of tensors as the engine has them, by the name of the node that makes them; others are found by rule.
using TensorNames = std::map<std::string, std::string>;

std::string resnet18Bytes(ExportedNames names, std::int64_t batch, const TensorNames& tensors = {});
std::string alexnetBytes(const std::string& input, const std::string& output);
std::string vgg16Bytes(const std::string& input, const std::string& output);
/// ResNet-50 of Keras, as tf2onnx names it.
std::string kerasResnet50Bytes(const TensorNames& tensors);
/// With QuantizeLinear and DequantizeLinear before every convolution; `residual`: before the residual Add as well.
std::string quantisedResnet18Bytes(bool residual, const TensorNames& tensors);
std::string quantisedMobilenetV2Bytes(const TensorNames& tensors);
/// What TensorRT's cookbook trains on MNIST, exported by torch.onnx's dynamo.
std::string mnistBytes();

}  // namespace fusescope::test
