#include "tests/unit/tensorrt_engines/imported_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/files.h"
#include "onnxlib/onnxlib.h"
#include "tests/unit/tensorrt_engines/engine_networks.h"

namespace fusescope::test {

std::string textOf(const Path& path) {
  auto text = readTextFile(path);
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? text.value() : std::string();
}

namespace {

bool isConverted(const ListedLayer& layer) {
  return layer.name.starts_with("Reformatting CopyNode");
}

/// What a layer's output is called behind the conversion that follows it.
std::string outputOf(const EngineLayers& engine, const ListedLayer& layer) {
  const std::string& name = layer.outputs.front().name;
  for (const ListedLayer& next : engine.layers)
    if (isConverted(next) && name.starts_with("Reformatted Output") && next.inputs.front().name == name)
      return next.outputs.front().name;
  return name;
}

/// The last node that a layer's name names.
std::string lastName(std::string name) {
  if (const std::size_t at = name.rfind(" + "); at != std::string::npos) name = name.substr(at + 3);
  if (name.starts_with("PWN(")) name = name.substr(4, name.size() - 5);
  return name;
}

TensorNames tensorsOf(const EngineLayers& engine) {
  TensorNames names;
  for (const ListedLayer& layer : engine.layers)
    if (!isConverted(layer) && !layer.outputs.empty()) names[lastName(layer.name)] = outputOf(engine, layer);
  return names;
}

std::int64_t numberOf(const std::string& node) {
  const std::size_t at = node.rfind('_');
  return at == std::string::npos ? -1 : std::atoll(node.c_str() + at + 1);
}

/// Of a network with quantisers a layer's name ends before the nodes that make its output: codes are made by the next
/// quantiser, floats by the Relu behind the batch norm, or that itself.
TensorNames quantisedTensors(const EngineLayers& engine, std::string (*network)(const TensorNames&)) {
  const TemporaryFolder folder;
  const auto file = onnxlib::readModel(folder.write("plain.onnx", network({})));
  EXPECT_TRUE(file.ok());
  std::map<std::int64_t, std::string> byNumber;
  for (const auto& node : file.value().graph.nodes) byNumber[numberOf(node.name)] = node.name;
  TensorNames names;
  for (const ListedLayer& layer : engine.layers) {
    if (isConverted(layer) || layer.outputs.empty() || layer.name.find("Unnamed") != std::string::npos) continue;
    const std::string last = lastName(layer.name);
    std::string maker = last;
    if (listedType(layer.outputs.front().type) == DataType::I8 && !last.starts_with("QuantizeLinear")) {
      for (const auto& [number, node] : byNumber)
        if (number > numberOf(last) && node.starts_with("QuantizeLinear")) {
          maker = node;
          break;
        }
    } else if (last.starts_with("Conv")) {
      maker = byNumber[numberOf(last) + 1];
      if (const auto next = byNumber.find(numberOf(last) + 2);
          next != byNumber.end() && next->second.starts_with("Relu"))
        maker = next->second;
    }
    names[maker] = outputOf(engine, layer);
  }
  return names;
}

std::string numberedResnet(const EngineLayers& engine) {
  return resnet18Bytes(ExportedNames::Numbers, 32, tensorsOf(engine));
}
std::string pathResnet(const EngineLayers& /*engine*/) {
  return resnet18Bytes(ExportedNames::Paths, 1);
}
std::string alexnet(const EngineLayers& engine) {
  return alexnetBytes(engine.tensors.front().name, engine.tensors.back().name);
}
std::string vgg16(const EngineLayers& engine) {
  return vgg16Bytes(engine.tensors.front().name, engine.tensors.back().name);
}
std::string kerasResnet(const EngineLayers& engine) {
  TensorNames names = tensorsOf(engine);
  names.erase("resnet50/predictions/MatMul");                                // what its layer writes has the bias in it
  names["resnet50/predictions/BiasAdd"] = "resnet50/predictions/BiasAdd:0";  // that the layer of the product writes
  return kerasResnet50Bytes(names);
}
std::string plainQuantised(const TensorNames& tensors) {
  return quantisedResnet18Bytes(false, tensors);
}
std::string residualQuantised(const TensorNames& tensors) {
  return quantisedResnet18Bytes(true, tensors);
}
std::string quantisedResnet(const EngineLayers& engine) {
  return plainQuantised(quantisedTensors(engine, plainQuantised));
}
std::string quantisedResidual(const EngineLayers& engine) {
  return residualQuantised(quantisedTensors(engine, residualQuantised));
}
std::string quantisedMobilenet(const EngineLayers& engine) {
  return quantisedMobilenetV2Bytes(quantisedTensors(engine, quantisedMobilenetV2Bytes));
}
std::string mnist(const EngineLayers& /*engine*/) {
  return mnistBytes();
}

Engine trex(const std::string& folder, const std::string& file, bool times,
            std::string (*network)(const EngineLayers&)) {
  const std::string start = "trex/" + folder + "/" + file + ".onnx.engine.";
  return {folder, start + "graph.json", start + "profile.json", times ? start + "timing.json" : "", network};
}

}  // namespace

const std::vector<Engine>& engines() {
  static const std::vector<Engine> kEngines{
      trex("pytorch-resnet18-A100-fp16", "resnet", true, numberedResnet),
      trex("pytorch-resnet18-A100-fp32", "resnet", true, numberedResnet),
      trex("pytorch-resnet18-A100-qat", "resnet-qat", false, quantisedResnet),
      trex("pytorch-resnet18-A100-qat-residual", "resnet-qat-residual", false, quantisedResidual),
      trex("tf-resnet50-RTX3090-fp16", "resnet", true, kerasResnet),
      trex("tf-resnet50-RTX3090-fp32", "resnet", true, kerasResnet),
      trex("mobilenet-qat", "mobilenet.qat", false, quantisedMobilenet),
      {"trt10-onnx-alexnet-fp16", "trt10-onnx-alexnet-fp16/alexnet_fp16.graph.json",
       "trt10-onnx-alexnet-fp16/alexnet_fp16.profile.json", "trt10-onnx-alexnet-fp16/alexnet_fp16.timing.json",
       alexnet},
      {"trt10-onnx-resnet18-fp16", "trt10-onnx-resnet18-fp16/resnet18_fp16.graph.json",
       "trt10-onnx-resnet18-fp16/resnet18_fp16.profile.json", "", pathResnet},
      {"trt10-onnx-api-resnet18", "trt10-onnx-api-resnet18/trt_engine_info.json",
       "trt10-onnx-api-resnet18/trt_layer_latency.json", "", pathResnet},
      {"torch-trt-alexnet", "torch-trt-alexnet/trt_engine_info.json", "torch-trt-alexnet/trt_layer_latency.json", "",
       alexnet},
      {"torch-trt-vgg16", "torch-trt-vgg16/trt_engine_info.json", "", "", vgg16},
      {"trt10.16-mnist", "trt10.16-mnist/exportLayerInfo.json", "", "", mnist}};
  return kEngines;
}

Path data(const std::string& file) {
  return *sharedFolder() / "data/tensorrt" / file;
}

const Engine& engineNamed(const std::string& name) {
  return *std::ranges::find(engines(), name, &Engine::name);
}

Imported::Imported(const Engine& engine, const std::string& layersText) {
  const std::string text = textOf(data(engine.layers));
  const auto layers = parseEngineLayers(text);
  if (!layers.ok()) {
    ADD_FAILURE() << layers.error().text();
    return;
  }
  m_layers = layers.value();
  request.model = m_folder.write("network.onnx", engine.network(m_layers));
  request.files.layers = layersText.empty() ? data(engine.layers) : m_folder.write("layers", layersText);
  if (!engine.profile.empty()) request.files.profile = data(engine.profile);
  if (!engine.times.empty()) request.files.times = data(engine.times);
}

std::shared_ptr<const ReadBackPlan> Imported::read() const {
  const auto artifact = importEngine(request);
  EXPECT_TRUE(artifact.ok()) << (artifact.ok() ? "" : artifact.error().text());
  return artifact.ok() ? artifact.value().made : nullptr;
}

}  // namespace fusescope::test
