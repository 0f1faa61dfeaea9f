#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace fusescope::testing {

/// Networks of the shared folder data/readback, whose weights were left out: here they are numbers that no two of them
/// share, so that no two nodes are equal for their weights.
class RecordedNetworks {
 public:
  /// Where the network can be read, as long as this object lives.
  std::filesystem::path network(const std::string& name) const {
    const auto path = m_folder / (name + ".onnx");
    std::filesystem::copy_file(*test::sharedFolder() / "data" / "readback" / (name + ".onnx"), path);
    // 0 and 1 as integers of 64 bits, so that they are indices, too.
    std::vector<std::uint64_t> words(kWeightBytes / sizeof(std::uint64_t));
    std::mt19937 random(1);
    for (std::uint64_t& word : words) word = random() & 1;
    std::ofstream weights(m_folder / (name + ".data"), std::ios::binary);
    weights.write(reinterpret_cast<const char*>(words.data()), kWeightBytes);
    return path;
  }

 private:
  static constexpr std::size_t kWeightBytes = std::size_t{4} << 20;
  test::TemporaryFolder m_folder;
};

}  // namespace fusescope::testing
