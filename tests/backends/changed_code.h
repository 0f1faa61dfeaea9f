#pragma once

#include <memory>
#include <utility>

#include "backends/code.h"

namespace fusescope {

/// Code of another backend whose outputs are changed behind it.
class ChangedCode : public Code {
 public:
  explicit ChangedCode(std::unique_ptr<const Code> code) : m_code(std::move(code)) {}
  std::size_t workspaceBytes() const override { return m_code->workspaceBytes(); }
  std::span<const Packing> packings() const override { return m_code->packings(); }
  std::span<const std::size_t> embedded() const override { return m_code->embedded(); }
  Status run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const> packed, std::byte* workspace) const override {
    TRY(m_code->run(stream, inputs, outputs, packed, workspace));
    change(outputs);
    return Done{};
  }

 private:
  virtual void change(std::span<std::byte* const> outputs) const = 0;

  std::unique_ptr<const Code> m_code;
};

}  // namespace fusescope
