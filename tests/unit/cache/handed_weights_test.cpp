// Weights of a network that another compiler receives are written when somebody reads them, and once for all networks
// that have the same.
#include "compilers/probed/handed_weights.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "cache/kept_store.h"
#include "compilers/probed/handed_digest.h"
#include "onnxlib/edited_network.h"
#include "probe/sha256.h"
#include "tests/support/paths.h"
#include "tests/unit/cache/network_keys.h"
#include "tests/unit/compilers/handed_network.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

/// A network in a file that changed long enough ago that its times say whether it changed again.
class HandedWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    m_network = m_folder.write("network.onnx", product());
    std::this_thread::sleep_for(std::chrono::milliseconds(5100));
  }

  /// The network as it is handed over into a folder of this name, with its weight in a file of its own.
  HandedFiles handedInto(const std::string& name) {
    const fs::path path = m_folder.path() / name / "network.onnx";
    fs::create_directories(path.parent_path());
    auto bytes = onnxlib::numberedNetwork(m_network, {}, onnxlib::weightsNameOf(path), 1);
    EXPECT_TRUE(bytes.ok());
    auto files = handOver(path, std::move(bytes.value().bytes));
    EXPECT_TRUE(files.ok()) << (files.ok() ? "" : files.error().text());
    return std::move(files).value();
  }

  const TemporaryFolder m_folder;
  fs::path m_network;
};

TEST_F(HandedWeights, AreWrittenWhenTheyAreRead) {
  const HandedFiles files = handedInto("first");
  ASSERT_NE(files.weights, nullptr);
  const fs::path path = files.weights->path();
  EXPECT_FALSE(fs::exists(path));
  ASSERT_EQ(files.file.graph.initializers.size(), 1U);
  const onnxlib::FileTensor& known = files.file.graph.initializers.front();
  ASSERT_TRUE(known.hasData);

  HeldStore store;
  const auto sha = handedSha256(store, path, {});
  ASSERT_TRUE(sha.ok()) << sha.error().text();
  EXPECT_EQ(sha.value(), sha256OfFile(path, {}).value()) << "it is written, because its hash is not known yet";
  const auto read = onnxlib::readModel(path.parent_path() / "network.onnx");
  ASSERT_TRUE(read.ok());
  const onnxlib::FileTensor& written = read.value().graph.initializers.front();
  EXPECT_EQ(std::memcmp(known.data, written.data, std::size_t(128) * 128 * sizeof(float)), 0);

  const HandedFiles again = handedInto("again");
  EXPECT_EQ(handedSha256(store, again.weights->path(), {}).value(), sha.value());
  EXPECT_FALSE(fs::exists(again.weights->path())) << "its hash is kept";
  EXPECT_TRUE(isSha256Kept(store, again.weights->path()));
  ASSERT_TRUE(writeDeferred(again.weights->path()).ok());
  EXPECT_TRUE(fs::equivalent(again.weights->path(), path)) << "both names lead to one file";

  fs::remove_all(path.parent_path());
  const HandedFiles third = handedInto("third");
  ASSERT_TRUE(third.weights->write().ok()) << "the file that is another name for them is gone";
  EXPECT_EQ(sha256OfFile(third.weights->path(), {}).value(), sha.value());

  m_folder.write("network.onnx", product());
  EXPECT_EQ(handedInto("fourth").weights, nullptr) << "a file that just changed may change again at the same time";
  EXPECT_TRUE(fs::exists(m_folder.path() / "fourth" / "network.onnx.data"));
}

TEST_F(HandedWeights, OfAFileThatChangedMeanwhileAreNotWritten) {
  const HandedFiles files = handedInto("first");
  ASSERT_NE(files.weights, nullptr);
  std::string other = product();
  other[other.size() / 2] ^= 1;
  std::ofstream(m_network, std::ios::binary | std::ios::in) << other;
  const Status written = files.weights->write();
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().where.file, m_network.string());
}

}  // namespace
}  // namespace fusescope::test
