#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compilers/probed/compiler_input.h"
#include "onnxlib/onnxlib.h"
#include "tests/unit/compilers/planned_file.h"

namespace fusescope::test {

/// The network of the plan as a compiler receives it.
inline CompilerInput handed(const std::shared_ptr<const Plan>& plan, CompilerInputTypes types) {
  auto network = makeCompilerInput(plan, types, {});
  EXPECT_TRUE(network.ok()) << (network.ok() ? "" : network.error().text());
  return network.ok() ? std::move(network).value()
                      : CompilerInput{.plan = plan, .path = {}, .folder = nullptr, .file = {}};
}

/// A product of x and a weight of 64 KiB, then a Relu.
inline std::string product() {
  onnxlib::FileModel file{.irVersion = 8, .producer = "test", .opsets = {{"", 18}}};
  const auto type = [](std::int64_t rows, std::int64_t columns) {
    return onnxlib::FileType{.dtype = DataType::F32, .ranked = true, .dims = {{.size = rows}, {.size = columns}}};
  };
  const auto weights = std::make_shared<std::vector<float>>(std::size_t(128) * 128);
  for (std::size_t i = 0; i < weights->size(); ++i) (*weights)[i] = float(i % 17) / 16 - 0.5F;
  file.graph = {.name = "g",
                .nodes = {{.name = "product", .op = "MatMul", .inputs = {"x", "weight"}, .outputs = {"h"}},
                          {.name = "relu", .op = "Relu", .inputs = {"h"}, .outputs = {"y"}}},
                .inputs = {{"x", type(2, 128)}},
                .outputs = {{"y", type(2, 128)}},
                .initializers = {{.name = "weight",
                                  .dtype = DataType::F32,
                                  .dims = {128, 128},
                                  .owner = weights,
                                  .data = reinterpret_cast<const std::byte*>(weights->data()),
                                  .hasData = true}}};
  const auto bytes = onnxlib::modelBytes(file);
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? bytes.value() : std::string();
}

}  // namespace fusescope::test
