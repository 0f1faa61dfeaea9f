#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusescope::test {

// Files as PyTorch writes them, made without it.

/// A member of a zip archive. `deflated`: packed, in blocks that hold its bytes as they are.
struct ZipMember {
  std::string name, content;
  bool deflated = false;
};
std::string zipBytes(const std::vector<ZipMember>& members);

/// A tensor as torch.save() describes it: a window on the storage of that key.
struct StoredTensor {
  std::string key = "0";
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  std::string storage = "FloatStorage";  ///< "LongStorage", …
  bool isParameter = false;
};

/// Writes pickles of protocol 2, opcode by opcode.
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
  /// An OrderedDict of tensors, as state_dict() is pickled.
  PickleWriter& stateDict(const std::vector<std::pair<std::string, StoredTensor>>& tensors);
  std::string bytes() const { return m_bytes + "."; }

 private:
  std::string m_bytes;
};

/// What torch.save() writes: the pickle, and the bytes of each storage by its key.
std::string savedBytes(const std::string& pickle, const std::map<std::string, std::string>& storages);

/// Numbers as they lie in a storage.
template <class T>
std::string bytesOf(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

enum class Pt2Kind { PlainZip, PickledWeights, RawWeights };

/// What is in a .pt2 that a test makes. The weights are float32; those of one key are windows on one storage.
struct Pt2Content {
  std::string program;  ///< its JSON
  std::vector<std::pair<std::string, StoredTensor>> weights, constants;
  std::map<std::string, std::string> storages;  ///< by key
  std::string examples;                         ///< of torch.save(); empty: there are none
  bool deflated = false;
};
std::string pt2Bytes(Pt2Kind kind, const Pt2Content& content);

/// An extent of a program: an expression, and its value for the example inputs.
std::string symbolicExtent(const std::string& expression, std::int64_t hint);

/// A network of two nodes, linear (weight fc.weight, [3, 4], of which the constant tied is a part; bias fc.bias) and
/// add, of an input x that is f32[s0, 4] with s0 from 2 to 16 and 5 in its example, and a constant 3.0. `schema`:
/// "8.2".
Pt2Content smallProgram(const std::string& schema = "8.17");

}  // namespace fusescope::test
