#pragma once

#include <gtest/gtest.h>

#include <string>

#include "frontends/torch/pt2_importer.h"
#include "tests/support/paths.h"
#include "tests/support/pt2_files.h"

namespace fusescope::test {

inline Result<Model> importPt2(const std::string& bytes) {
  const TemporaryFolder folder;
  return importModel(folder.write("net.pt2", bytes));
}

/// What importing a file with these bytes says, without the folder.
inline std::string pt2ErrorOf(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("net.pt2", bytes);
  const auto model = importModel(path);
  if (model.ok()) return "it was read";
  Diagnostic error = model.error();
  EXPECT_EQ(error.where.file, path.string()) << error.text();
  error.where.file.clear();
  return error.text();
}

/// `text` with `what`, which must be in it, written as `by`.
inline std::string with(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

}  // namespace fusescope::test
