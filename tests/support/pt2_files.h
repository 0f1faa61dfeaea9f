#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusescope::test {

// These write files as PyTorch does, without PyTorch.

/// A member of a zip archive. If `deflated` is set, it is stored as a deflate stream of uncompressed blocks.
struct ZipMember {
  std::string name, content;
  bool deflated = false;
};
std::string zipBytes(const std::vector<ZipMember>& members);

/// A tensor as torch.save() describes it: a view of the storage with this key.
struct StoredTensor {
  std::string key = "0";
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  std::string storage = "FloatStorage";  ///< "LongStorage", …
  bool isParameter = false;
};

/// Writes pickles of protocol 2, one opcode after another.
class PickleWriter {
 public:
  PickleWriter() { raw("\x80\x02"); }
  PickleWriter& raw(std::string_view bytes) {
    m_bytes += bytes;
    return *this;
  }
  PickleWriter& none() { return raw("N"); }
  PickleWriter& boolean(bool value) { return raw(value ? "\x88" : "\x89"); }
  PickleWriter& integer(std::int64_t value);
  PickleWriter& number(double value);
  PickleWriter& text(std::string_view value);
  PickleWriter& global(std::string_view module, std::string_view name);
  PickleWriter& mark() { return raw("("); }
  PickleWriter& tuple() { return raw("t"); }
  PickleWriter& integers(const std::vector<std::int64_t>& values);
  PickleWriter& tensor(const StoredTensor& tensor);
  /// Writes an OrderedDict of tensors as state_dict() is pickled.
  PickleWriter& stateDict(const std::vector<std::pair<std::string, StoredTensor>>& tensors);
  std::string bytes() const { return m_bytes + "."; }

 private:
  std::string m_bytes;
};

/// Returns the bytes that torch.save() writes: the pickle, and the bytes of each storage by its key.
std::string savedBytes(const std::string& pickle, const std::map<std::string, std::string>& storages);

/// Returns the bytes of numbers as they are in a storage.
template <class T>
std::string bytesOf(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

enum class Pt2Kind { PlainZip, PickledWeights, RawWeights };

/// The contents of a .pt2 file that a test makes. The weights are float32; weights with the same key are views of one
/// storage.
struct Pt2Content {
  std::string program;  ///< the JSON of the program
  std::vector<std::pair<std::string, StoredTensor>> weights, constants;
  std::map<std::string, std::string> storages;  ///< the bytes of storages, by key
  std::string examples;                         ///< a file of torch.save(); empty if there are no examples
  bool deflated = false;
};
std::string pt2Bytes(Pt2Kind kind, const Pt2Content& content);

/// Returns an extent of a program: an expression, and its value for the example inputs.
std::string symbolicExtent(const std::string& expression, std::int64_t hint);

/// Returns a network of two nodes, linear and add. The linear node has the weight fc.weight [3, 4], of which the
/// constant `tied` is a part, and the bias fc.bias. The input x is f32[s0, 4], where s0 is from 2 to 16 and is 5 in the
/// example; the add node adds a constant 3.0. `schema` is the version, such as "8.2".
Pt2Content smallProgram(const std::string& schema = "8.17");

}  // namespace fusescope::test
