package segment

// chooseDictionary picks bytes of the turns that blocks are compressed with; nil
// where that does not pay.
func chooseDictionary(turns []Turn, o BuildOptions) ([]byte, error) {
	if o.DictionaryBytes < 0 {
		return nil, nil
	}
	return nil, nil
}
