#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/json.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {

/// The model file of a sample.
inline std::string samplePath(std::string_view network) {
  return (sampleFolder(network) / "model.onnx").string();
}

/// What a command that must succeed prints.
inline Json jsonOf(const ProcessResult& result) {
  EXPECT_EQ(result.status, 0) << result.err;
  auto json = Json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out << result.err;
  return json;
}

}  // namespace fusescope::test
