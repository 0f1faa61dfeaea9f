// Weights in unusual places: sparse, larger than 2 GiB, beyond 4 GiB of a file. The large files are holes: they take no
// room on the disk, and nothing of them is read that is not asked for.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}

/// Wire type 0 (a number) and 2 (bytes with their length before them).
std::string numberField(int field, std::uint64_t number) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(number);
}
std::string bytesField(int field, const std::string& content) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}

template <class T>
std::string rawBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A TensorProto: dims, data_type, name, raw_data.
std::string tensorBytes(const std::string& name, int type, const std::vector<std::uint64_t>& dims,
                        const std::string& raw) {
  std::string bytes;
  for (const std::uint64_t dim : dims) bytes += numberField(1, dim);
  return bytes + numberField(2, static_cast<std::uint64_t>(type)) + bytesField(8, name) + bytesField(9, raw);
}

/// What to append to a model's bytes for a sparse initializer: GraphProto.sparse_initializer is field 15.
std::string sparseInitializer(const std::string& name, const std::vector<float>& values,
                              const std::vector<std::int64_t>& indices, const std::vector<std::uint64_t>& indexDims,
                              const std::vector<std::uint64_t>& dims) {
  std::string sparse = bytesField(1, tensorBytes(name, 1, {values.size()}, rawBytes(values))) +
                       bytesField(2, tensorBytes("", 7, indexDims, rawBytes(indices)));
  for (const std::uint64_t dim : dims) sparse += numberField(3, dim);
  return bytesField(7, bytesField(15, sparse));
}

std::string sparseModel(const std::string& sparse) {
  return onnxBytes("g (float[2,3] x) => (float[2,3] y) { y = Add (x, w) }") + sparse;
}

std::vector<double> weightOf(const Result<Model>& model) {
  EXPECT_TRUE(model.ok()) << model.error().text();
  if (!model.ok()) return {};
  const Graph& graph = *model.value().graph;
  const Tensor* w = graph.constantData(*graph.findValue("w"));
  std::vector<double> numbers;
  for (std::int64_t i = 0; w != nullptr && i < w->count(); ++i) numbers.push_back(w->asDouble(i));
  return numbers;
}

TEST(Weights, SparseOnesBecomeDense) {
  const std::vector<double> dense = {0, 5, 0, 0, 0, 7};
  EXPECT_EQ(weightOf(importBytes(sparseModel(sparseInitializer("w", {5, 7}, {1, 5}, {2}, {2, 3})))), dense);
  EXPECT_EQ(weightOf(importBytes(sparseModel(sparseInitializer("w", {5, 7}, {0, 1, 1, 2}, {2, 2}, {2, 3})))), dense);
}

TEST(Weights, WrongSparseOnesAreRefusedByName) {
  const auto error = [](const std::string& sparse) {
    const auto model = importBytes(sparseModel(sparse));
    EXPECT_FALSE(model.ok());
    return model.ok() ? std::string() : model.error().text();
  };
  for (const std::string& text :
       {error(sparseInitializer("w", {5}, {6}, {1}, {2, 3})), error(sparseInitializer("w", {5}, {-1}, {1}, {2, 3})),
        error(sparseInitializer("w", {5}, {0, 3}, {1, 2}, {2, 3}))}) {
    EXPECT_NE(text.find("'w'"), std::string::npos) << text;
    EXPECT_NE(text.find("out of range"), std::string::npos) << text;
  }
  EXPECT_NE(error(sparseInitializer("w", {5}, {0, 1, 2}, {3}, {2, 3})).find("[entries]"), std::string::npos);
  EXPECT_NE(error(sparseInitializer("w", {5}, {0}, {1}, {1U << 20, 1U << 20})).find("would exceed the limit"),
            std::string::npos);
}

/// A file that is `size` bytes long and holds `content` at `offset`; all else is a hole.
void writeHollow(const std::filesystem::path& path, std::uint64_t size, std::uint64_t offset,
                 const std::string& content) {
  std::ofstream(path, std::ios::binary).close();
  std::filesystem::resize_file(path, size);
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(offset));
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
}

/// ONNX Runtime's quantiser writes where the data is, which is here, behind data that is large enough to be mapped.
TEST(Weights, MayBeSaidToBeInTheFileItself) {
  const std::vector<float> values(2048, 3.0F);
  const std::string tensor = tensorBytes("w", 1, {2048}, rawBytes(values)) + numberField(14, 0);
  const auto model = importBytes(onnxBytes("g (float[2048] x) => (float[2048] y) { y = Add (x, w) }") +
                                 bytesField(7, bytesField(5, tensor)));
  EXPECT_EQ(weightOf(model), std::vector<double>(2048, 3.0));
}

/// Protobuf puts them at any address, of which few are multiples of an element's size.
TEST(Weights, StayInTheFileWhereverTheyLie) {
  const std::string graph = onnxBytes("g (float[2048] x) => (float[2048] y) { y = Add (x, w) }");
  const std::string weight =
      bytesField(7, bytesField(5, tensorBytes("w", 1, {2048}, rawBytes(std::vector<float>(2048, 3.0F)))));
  for (std::size_t moved = 0; moved < sizeof(float); ++moved) {
    const auto model = importBytes(graph + bytesField(6, std::string(moved, ' ')) + weight);  // 6: the doc_string
    EXPECT_EQ(weightOf(model), std::vector<double>(2048, 3.0));
    const Graph& built = *model.value().graph;
    EXPECT_TRUE(model.value().files.front()->holds(built.constantData(*built.findValue("w"))->bytes())) << moved;
  }
}

TEST(Weights, ExternalOnesMayBeLargerThanAnyInt) {
  const TemporaryFolder folder;
  const std::uint64_t offset = 5 * kGiB + 4;
  writeHollow(folder / "w.bin", 6 * kGiB, offset, rawBytes(std::vector<float>{1, 2, 3}));
  const std::string graph =
      "g (float[3] x) => (float[3] y) <float[805306368] large = [\"location\": \"w.bin\", \"offset\": \"0\"],"
      " float[3] w = [\"location\": \"w.bin\", \"offset\": \"" +
      std::to_string(offset) +
      "\"]> {"
      " a = Add (x, w) b = ReduceMax (large) y = Add (a, b) }";
  const auto model = importModel(folder.write("model.onnx", onnxBytes(graph)));
  EXPECT_EQ(weightOf(model), (std::vector<double>{1, 2, 3}));
  const Graph& imported = *model.value().graph;
  const Tensor* large = imported.constantData(*imported.findValue("large"));
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large->byteSize(), 3 * kGiB);
  EXPECT_EQ(large->asDouble(large->count() - 1), 0);
  EXPECT_EQ(model.value().weightBytes, static_cast<std::int64_t>(3 * kGiB) + 12);
}

TEST(Weights, AFileOfItsOwnMayBeLargerThanProtobufReads) {
  const TemporaryFolder folder;
  const std::string model = onnxBytes("g (float[3] x) => (float[3] y) { b = ReduceMax (w) y = Add (x, b) }");
  const std::uint64_t bytes = 3 * kGiB;
  const std::string start = numberField(1, bytes / 4) + numberField(2, 1) + bytesField(8, "w") + varint(9 << 3 | 2) +
                            varint(bytes);  // raw_data, to the end of the file
  const std::string initializer = varint(5 << 3 | 2) + varint(start.size() + bytes) + start;
  const std::string graph = varint(7 << 3 | 2) + varint(initializer.size() + bytes) + initializer;
  writeHollow(folder / "model.onnx", model.size() + graph.size() + bytes, 0, model + graph);
  const auto imported = importModel(folder / "model.onnx");
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  const Graph& built = *imported.value().graph;
  const Tensor* w = built.constantData(*built.findValue("w"));
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->byteSize(), bytes);
  EXPECT_EQ(w->asDouble(w->count() - 1), 0);
}

}  // namespace
}  // namespace fusescope::test
