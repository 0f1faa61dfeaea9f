#include "tests/unit/tensorrt_engines/engine_networks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::test {
namespace {

using Ints = std::vector<std::int64_t>;

/// Writes a network node by node.
class Writer {
 public:
  explicit Writer(const TensorNames& tensors) : m_tensors(tensors) {
    m_model.irVersion = 8;
    m_model.producer = "test";
    m_model.opsets = {{"", 17}};
    m_model.graph.name = "main_graph";
  }

  std::string input(const std::string& name, const Ints& dims) {
    m_model.graph.inputs.push_back(value(name, dims));
    return name;
  }
  void output(const std::string& name) { m_model.graph.outputs.push_back({name, {.dtype = DataType::F32}}); }

  std::string weight(const std::string& name, const Ints& dims, DataType type = DataType::F32) {
    m_model.graph.initializers.push_back({.name = name, .dtype = type, .dims = dims});
    return name;
  }
  /// A number, with its data.
  std::string number(const std::string& name, DataType type) {
    static const auto kOne = std::make_shared<const float>(1.0F);
    static const auto kZero = std::make_shared<const std::int64_t>(0);
    const bool isFloat = type == DataType::F32;
    m_model.graph.initializers.push_back(
        {.name = name,
         .dtype = type,
         .dims = {},
         .owner = isFloat ? std::shared_ptr<const void>(kOne) : std::shared_ptr<const void>(kZero),
         .data =
             isFloat ? reinterpret_cast<const std::byte*>(kOne.get()) : reinterpret_cast<const std::byte*>(kZero.get()),
         .hasData = true});
    return name;
  }
  std::string extents(const std::string& name, const Ints& numbers) {
    const auto data = std::make_shared<const Ints>(numbers);
    m_model.graph.initializers.push_back({.name = name,
                                          .dtype = DataType::I64,
                                          .dims = {static_cast<std::int64_t>(numbers.size())},
                                          .owner = data,
                                          .data = reinterpret_cast<const std::byte*>(data->data()),
                                          .hasData = true});
    return name;
  }

  /// The name of the tensor that the node makes.
  std::string add(const std::string& op, const std::string& name, std::vector<std::string> inputs,
                  const std::map<std::string, Ints>& lists = {},
                  const std::map<std::string, std::int64_t>& numbers = {}, const std::string& made = {}) {
    onnxlib::FileNode node{.name = name, .op = op, .inputs = std::move(inputs)};
    for (const auto& [key, list] : lists) node.attributes.push_back({.name = key, .reference = {}, .value = list});
    for (const auto& [key, number] : numbers)
      node.attributes.push_back({.name = key, .reference = {}, .value = number});
    const auto known = m_tensors.find(name);
    node.outputs = {!made.empty() ? made : known != m_tensors.end() ? known->second : name + "_output_0"};
    m_model.graph.nodes.push_back(node);
    return node.outputs.front();
  }

  std::string bytes() const {
    const auto bytes = onnxlib::modelBytes(m_model);
    EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().text());
    return bytes.ok() ? bytes.value() : std::string();
  }

 private:
  static onnxlib::FileValue value(const std::string& name, const Ints& dims) {
    onnxlib::FileValue value{name, {.dtype = DataType::F32, .ranked = true}};
    for (const std::int64_t dim : dims) value.type.dims.push_back({.size = dim});
    return value;
  }

  TensorNames m_tensors;
  onnxlib::FileModel m_model;
};

struct Window {
  std::int64_t size = 3, stride = 1, pad = 1, groups = 1;
};

/// A convolution with a bias, as exporters write one whose batch norm they folded.
std::string conv(Writer& to, const std::string& name, const std::string& x, const std::string& weight, std::int64_t out,
                 const Window& window, bool bias = true) {
  std::vector<std::string> inputs{x, weight};
  if (bias) inputs.push_back(to.weight(name + ".folded_bias", {out}));
  const std::int64_t k = window.size, s = window.stride, p = window.pad;
  return to.add("Conv", name, std::move(inputs),
                {{"kernel_shape", {k, k}}, {"strides", {s, s}}, {"pads", {p, p, p, p}}, {"dilations", {1, 1}}},
                {{"group", window.groups}});
}

std::string maxPool(Writer& to, const std::string& name, const std::string& x, std::int64_t k, std::int64_t s,
                    std::int64_t p) {
  return to.add("MaxPool", name, {x}, {{"kernel_shape", {k, k}}, {"strides", {s, s}}, {"pads", {p, p, p, p}}});
}

/// Calls nodes as exporters did: by the path of their module, or by the number of the node.
class Namer {
 public:
  explicit Namer(ExportedNames names) : m_names(names) {}
  std::string operator()(const std::string& path, const std::string& op) {
    if (m_names == ExportedNames::Numbers) return fmt::format("{}_{}", op, m_next++);
    return path + "/" + op;
  }

 private:
  ExportedNames m_names;
  int m_next = 0;
};

constexpr std::array<std::int64_t, 4> kWidths{64, 128, 256, 512};

}  // namespace

std::string resnet18Bytes(ExportedNames names, std::int64_t batch, const TensorNames& tensors) {
  Writer to(tensors);
  Namer name(names);
  const bool numbered = names == ExportedNames::Numbers;
  std::string x = to.input(numbered ? "input.1" : "input", {batch, 3, 224, 224});
  const auto convOf = [&](const std::string& path, const std::string& in, std::int64_t from, std::int64_t width,
                          const Window& window) {
    const std::string node = name(path, "Conv");
    return conv(to, node, in, to.weight(node + ".weight", {width, from, window.size, window.size}), width, window);
  };
  const auto relu = [&](const std::string& path, const std::string& in) {
    return to.add("Relu", name(path, "Relu"), {in});
  };
  x = relu("/relu", convOf("/conv1", x, 3, 64, {7, 2, 3}));
  x = maxPool(to, name("/maxpool", "MaxPool"), x, 3, 2, 1);
  std::int64_t from = 64;
  for (std::size_t stage = 0; stage < kWidths.size(); ++stage)
    for (int block = 0; block < 2; ++block) {
      const std::int64_t width = kWidths[stage], stride = stage > 0 && block == 0 ? 2 : 1;
      const std::string path = fmt::format("/layer{0}/layer{0}.{1}", stage + 1, block);
      std::string y = relu(path + "/relu", convOf(path + "/conv1", x, from, width, {3, stride, 1}));
      y = convOf(path + "/conv2", y, width, width, {});
      const std::string shortcut =
          from == width ? x : convOf(path + "/downsample/downsample.0", x, from, width, {1, stride, 0});
      y = to.add("Add", name(path, "Add"), {y, shortcut});
      const std::string second = numbered ? name(path, "Relu") : path + "/relu_1/Relu";
      x = to.add("Relu", second, {y});
      from = width;
    }
  x = to.add("GlobalAveragePool", name("/avgpool", "GlobalAveragePool"), {x});
  x = to.add("Flatten", name("", "Flatten"), {x}, {}, {{"axis", 1}});
  const std::string gemm = name("/fc", "Gemm");
  x = to.add("Gemm", gemm, {x, to.weight("fc.weight", {1000, 512}), to.weight("fc.bias", {1000})}, {}, {{"transB", 1}},
             numbered ? "191" : "output");
  to.output(x);
  return to.bytes();
}

namespace {

/// The features of AlexNet and VGG.
struct Feature {
  std::int64_t width;  ///< 0: a pool
  Window window;
};

std::string classifierBytes(const std::string& input, const std::string& output, const std::vector<Feature>& features,
                            const Window& pool, std::int64_t flat) {
  Writer to({});
  std::string x = to.input(input, {1, 3, 224, 224});
  std::int64_t from = 3;
  int index = 0;
  for (const Feature& feature : features) {
    const std::string path = fmt::format("/features/features.{}", index++);
    if (feature.width == 0) {
      x = maxPool(to, path + "/MaxPool", x, pool.size, pool.stride, 0);
      continue;
    }
    const std::int64_t k = feature.window.size;
    x = conv(to, path + "/Conv", x, to.weight(path + ".weight", {feature.width, from, k, k}), feature.width,
             feature.window);
    x = to.add("Relu", fmt::format("/features/features.{}/Relu", index++), {x});
    from = feature.width;
  }
  x = to.add("Flatten", "/Flatten", {x}, {}, {{"axis", 1}});
  const std::array<std::int64_t, 4> widths{flat, 4096, 4096, 1000};
  const bool isVgg = features.size() > 10;  // dropouts stand elsewhere
  const std::array<int, 3> places = isVgg ? std::array{0, 3, 6} : std::array{1, 4, 6};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string path = fmt::format("/classifier/classifier.{}", places[i]);
    x = to.add("Gemm", path + "/Gemm",
               {x, to.weight(path + ".weight", {widths[i + 1], widths[i]}), to.weight(path + ".bias", {widths[i + 1]})},
               {}, {{"transB", 1}}, i == 2 ? output : std::string());
    if (i < 2) x = to.add("Relu", fmt::format("/classifier/classifier.{}/Relu", places[i] + 1), {x});
  }
  to.output(x);
  return to.bytes();
}

}  // namespace

std::string alexnetBytes(const std::string& input, const std::string& output) {
  return classifierBytes(
      input, output, {{64, {11, 4, 2}}, {0, {}}, {192, {5, 1, 2}}, {0, {}}, {384, {}}, {256, {}}, {256, {}}, {0, {}}},
      {3, 2}, 9216);
}

std::string vgg16Bytes(const std::string& input, const std::string& output) {
  std::vector<Feature> features;
  for (const std::int64_t width : {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0})
    features.push_back({width, {}});
  return classifierBytes(input, output, features, {2, 2}, 25088);
}

std::string kerasResnet50Bytes(const TensorNames& tensors) {
  Writer to(tensors);
  std::string x = to.input("input_1", {32, 224, 224, 3});
  const auto name = [](const std::string& part) { return "resnet50/" + part; };
  const auto convOf = [&](const std::string& node, const std::string& in, std::int64_t from, std::int64_t width,
                          const Window& window) {
    return conv(to, node, in, to.weight(node + "_weights", {width, from, window.size, window.size}), width, window);
  };
  x = to.add("Transpose", name("conv1_conv/Conv2D__6"), {x}, {{"perm", {0, 3, 1, 2}}});
  x = to.add("Relu", name("conv1_relu/Relu"), {convOf("Conv__435", x, 3, 64, {7, 2, 3})});
  x = to.add("Pad", name("pool1_pad/Pad"), {x, to.extents("pads", {0, 0, 1, 1, 0, 0, 1, 1})});
  x = maxPool(to, name("pool1_pool/MaxPool"), x, 3, 2, 0);
  constexpr std::array<int, 4> kBlocks{3, 4, 6, 3};
  std::int64_t from = 64;
  for (std::size_t stage = 0; stage < kWidths.size(); ++stage)
    for (int block = 1; block <= kBlocks[stage]; ++block) {
      const std::string path = fmt::format("conv{}_block{}_", stage + 2, block);
      const std::int64_t width = kWidths[stage], stride = stage > 0 && block == 1 ? 2 : 1;
      const std::string shortcut =
          block > 1 ? x : convOf(name(path + "0_conv/Conv2D"), x, from, 4 * width, {1, stride, 0});
      std::string y = convOf(name(path + "1_conv/Conv2D"), x, from, width, {1, stride, 0});
      y = to.add("Relu", name(path + "1_relu/Relu"), {y});
      y = to.add("Relu", name(path + "2_relu/Relu"), {convOf(name(path + "2_conv/Conv2D"), y, width, width, {})});
      y = convOf(name(path + "3_conv/Conv2D"), y, width, 4 * width, {1, 1, 0});
      y = to.add("Add", name(path + "add/add"), {shortcut, y});
      x = to.add("Relu", name(path + "out/Relu"), {y});
      from = 4 * width;
    }
  x = to.add("GlobalAveragePool", name("avg_pool/Mean"), {x});
  x = to.add("Squeeze", name("avg_pool/Mean_Squeeze"), {x, to.extents("axes", {2, 3})});
  x = to.add("MatMul", name("predictions/MatMul"), {x, to.weight("dense", {2048, 1000})});
  x = to.add("Add", name("predictions/BiasAdd"), {x, to.weight("dense_bias", {1000})});
  x = to.add("Softmax", name("predictions/Softmax"), {x}, {}, {{"axis", 1}}, "predictions");
  to.output(x);
  return to.bytes();
}

namespace {

/// Calls nodes by number, as Quantizers of pytorch-quantization were exported: constants of scales count, too.
class QuantisedWriter {
 public:
  QuantisedWriter(Writer& to, int constantsBefore, int constantsBetween)
      : m_to(to), m_before(constantsBefore), m_between(constantsBetween) {}

  std::string number(const std::string& op) { return fmt::format("{}_{}", op, m_next++); }
  void skip(int constants) { m_next += constants; }

  /// QuantizeLinear and DequantizeLinear of `x`; so many more constants stand before them and between them.
  std::string quantise(const std::string& x, int more = 0, int moreBetween = 0) {
    skip(m_before + more);
    const std::string q = number("QuantizeLinear");
    const std::string scale = m_to.number(q + ".scale", DataType::F32), zero = m_to.number(q + ".zero", DataType::I8);
    const std::string codes = m_to.add("QuantizeLinear", q, {x, scale, zero});
    skip(m_between + moreBetween);
    return m_to.add("DequantizeLinear", number("DequantizeLinear"), {codes, scale, zero});
  }

  std::string convOf(const std::string& x, const std::string& weight, std::int64_t from, std::int64_t width,
                     const Window& window, int moreOfWeight) {
    const std::string kernel = m_to.weight(weight, {width, from / window.groups, window.size, window.size});
    const std::string codes = quantise(kernel, moreOfWeight);
    const std::string made = conv(m_to, number("Conv"), x, codes, width, window, false);
    return norm(made, width);
  }

  std::string norm(const std::string& x, std::int64_t width) {
    const std::string node = number("BatchNormalization");
    std::vector<std::string> inputs{x};
    for (const char* part : {".scale", ".bias", ".mean", ".var"}) inputs.push_back(m_to.weight(node + part, {width}));
    return m_to.add("BatchNormalization", node, std::move(inputs));
  }

  std::string add(const std::string& op, std::vector<std::string> inputs,
                  const std::map<std::string, std::int64_t>& attributes = {}, const std::string& made = {}) {
    return m_to.add(op, number(op), std::move(inputs), {}, attributes, made);
  }

 private:
  Writer& m_to;
  int m_before, m_between, m_next = 0;
};

}  // namespace

std::string quantisedResnet18Bytes(bool residual, const TensorNames& tensors) {
  Writer file(tensors);
  QuantisedWriter to(file, 2, 0);
  std::string x = to.quantise(file.input("input.1", {32, 3, 224, 224}));
  x = to.add("Relu", {to.convOf(x, "conv1.weight", 3, 64, {7, 2, 3}, 1)});
  x = maxPool(file, to.number("MaxPool"), x, 3, 2, 1);
  std::int64_t from = 64;
  for (std::size_t stage = 0; stage < kWidths.size(); ++stage)
    for (int block = 0; block < 2; ++block) {
      const std::int64_t width = kWidths[stage], stride = stage > 0 && block == 0 ? 2 : 1;
      const std::string path = fmt::format("layer{}.{}", stage + 1, block);
      std::string y = to.convOf(to.quantise(x), path + ".conv1.weight", from, width, {3, stride, 1}, 1);
      y = to.add("Relu", {y});
      y = to.convOf(to.quantise(y), path + ".conv2.weight", width, width, {}, 1);
      std::string shortcut = x;
      if (from != width)
        shortcut = to.convOf(to.quantise(x), path + ".downsample.0.weight", from, width, {1, stride, 0}, 1);
      if (residual) shortcut = to.quantise(shortcut, 0, 2);
      x = to.add("Relu", {to.add("Add", {y, shortcut})});
      from = width;
    }
  x = to.add("GlobalAveragePool", {x});
  x = to.quantise(to.add("Flatten", {x}, {{"axis", 1}}));
  const std::string weight = to.quantise(file.weight("fc.weight", {1000, 512}), 1);
  x = to.add("Gemm", {x, weight, file.weight("fc.bias", {1000})}, {{"transB", 1}}, residual ? "470" : "422");
  file.output(x);
  return file.bytes();
}

std::string quantisedMobilenetV2Bytes(const TensorNames& tensors) {
  Writer file(tensors);
  QuantisedWriter to(file, 2, 2);
  std::string x = file.input("input1", {1, 3, 224, 224});
  const auto convOf = [&](const std::string& in, const std::string& weight, std::int64_t from, std::int64_t width,
                          const Window& window) { return to.convOf(to.quantise(in), weight, from, width, window, 0); };
  const auto clip = [&](const std::string& in) {
    to.skip(2);
    const std::string node = to.number("Clip");
    return file.add("Clip", node,
                    {in, file.number(node + ".min", DataType::F32), file.number(node + ".max", DataType::F32)});
  };
  x = clip(convOf(x, "features.0.0.weight", 3, 32, {3, 2, 1}));
  struct Stage {
    std::int64_t widen, width, blocks, stride;
  };
  constexpr std::array<Stage, 7> kStages{
      {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
  std::int64_t from = 32;
  int block = 1;
  for (const Stage& stage : kStages)
    for (std::int64_t i = 0; i < stage.blocks; ++i, ++block) {
      const std::int64_t inner = from * stage.widen, stride = i == 0 ? stage.stride : 1;
      const std::string path = fmt::format("features.{}.conv.", block);
      std::string y = x;
      int part = 0;
      if (stage.widen > 1) y = clip(convOf(y, fmt::format("{}{}.0.weight", path, part++), from, inner, {1, 1, 0}));
      y = clip(convOf(y, fmt::format("{}{}.0.weight", path, part++), inner, inner, {3, stride, 1, inner}));
      y = convOf(y, fmt::format("{}{}.weight", path, part), inner, stage.width, {1, 1, 0});
      x = stride == 1 && from == stage.width ? to.add("Add", {x, y}) : y;
      from = stage.width;
    }
  x = clip(convOf(x, "features.18.0.weight", 320, 1280, {1, 1, 0}));
  x = to.add("GlobalAveragePool", {x});
  to.skip(7);
  x = to.add("Flatten", {x}, {{"axis", 1}});
  x = to.quantise(x);
  const std::string weight = to.quantise(file.weight("classifier.1.weight", {1000, 1280}));
  x = to.add("Gemm", {x, weight, file.weight("classifier.1.bias", {1000})}, {{"transB", 1}}, "1179");
  file.output(x);
  return file.bytes();
}

std::string mnistBytes() {
  Writer to({});
  std::string x = to.input("x", {1, 1, 28, 28});
  std::int64_t from = 1;
  for (const auto& [suffix, width] :
       {std::pair{std::string(), std::int64_t{32}}, {std::string("_1"), std::int64_t{64}}}) {
    const std::string weight = suffix.empty() ? "conv1" : "conv2";
    x = to.add("Conv", "node_conv2d" + suffix,
               {x, to.weight(weight + ".weight", {width, from, 5, 5}), to.weight(weight + ".bias", {width})},
               {{"kernel_shape", {5, 5}}, {"pads", {2, 2, 2, 2}}}, {}, "conv2d" + suffix);
    x = to.add("Relu", "node_relu" + suffix, {x}, {}, {}, "relu" + suffix);
    x = to.add("MaxPool", "node_max_pool2d" + suffix, {x}, {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}}, {},
               "max_pool2d" + suffix);
    from = width;
  }
  x = to.add("Reshape", "node_view", {x, to.extents("val_5", {-1, 3136})}, {}, {}, "view");
  x = to.add("Gemm", "node_linear", {x, to.weight("gemm1.weight", {1024, 3136}), to.weight("gemm1.bias", {1024})}, {},
             {{"transB", 1}}, "linear");
  x = to.add("Relu", "node_relu_2", {x}, {}, {}, "relu_2");
  const std::string y =
      to.add("Gemm", "node_linear_1", {x, to.weight("gemm2.weight", {10, 1024}), to.weight("gemm2.bias", {10})}, {},
             {{"transB", 1}}, "y");
  x = to.add("Softmax", "node_softmax", {y}, {}, {{"axis", 1}}, "softmax");
  const std::string z = to.add("ArgMax", "node_argmax", {x}, {}, {{"axis", 1}, {"keepdims", 0}}, "z");
  to.output(y);
  to.output(z);
  return to.bytes();
}

}  // namespace fusescope::test
