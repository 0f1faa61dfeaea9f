#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <QWidget>
#include <vector>

#include "session/tensor_slice.h"

namespace fusescope {

/// Which two axes of a tensor go down and across, and the index along each of the others.
class SliceChooser : public QWidget {
  Q_OBJECT

 public:
  explicit SliceChooser(QWidget* parent = nullptr);
  /// Begins with usualSlice(); extents that are as before keep what was chosen.
  void setDims(const Dims& dims);
  const SliceChoice& choice() const { return m_choice; }
  void choose(const SliceChoice& choice);  ///< emits changed() if it is another
  /// Of an axis; those of the two that are shown are hidden.
  QSpinBox& index(int axis) { return *m_indices[static_cast<std::size_t>(axis)]; }
  QComboBox& rows() { return *m_rows; }
  QComboBox& columns() { return *m_columns; }

 signals:
  void changed();

 private:
  void takeAxes(bool rowsChanged);
  void show();

  Dims m_dims;
  SliceChoice m_choice;
  QComboBox *m_rows, *m_columns;
  QLabel *m_down, *m_across;
  std::vector<QLabel*> m_labels;
  std::vector<QSpinBox*> m_indices;
};

}  // namespace fusescope
